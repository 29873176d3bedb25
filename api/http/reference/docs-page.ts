import { docsErrors, docsIntroduction } from './docs-introduction.ts';
import { docsOperation } from './docs-operation.ts';
import { docsStyle } from './docs-style.ts';
import { docsWebhook } from './docs-webhook.ts';
import { Html, html } from './html.ts';
import type { OpenApiDocument, OperationObject } from './openapi-types.ts';

export type PlacedOperation = Readonly<{ method: string; path: string; operation: OperationObject }>;

/** The reference as a page for people: no scripts, nothing from other hosts. */
export function docsPage(document: OpenApiDocument): string {
  const { info, tags } = document;
  const placed = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): PlacedOperation => ({ method, path, operation })),
  );
  const sections = tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    operations: placed.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} API reference</title>
<meta name="description" content="${info.summary}">
<style>${new Html(docsStyle)}</style>
</head>
<body>
<div class="page">
<nav aria-label="Contents">
<ul><li><a href="#start">Start here</a></li></ul>
${sections.map(
  ({ name, operations }) => html`<strong>${name}</strong>
<ul>${operations.map(({ operation }) => html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`)}${
    name === 'Webhooks' && html`<li><a href="#jobEnded">${document.webhooks.jobEnded.post.summary}</a></li>`
  }</ul>
`,
)}<ul><li><a href="#errors">Errors</a></li><li><a href="/openapi.json">openapi.json</a></li></ul>
</nav>
<main>
${docsIntroduction(document)}
${sections.map(
  ({ name, id, description, operations }) => html`<section>
<h2 id="${id}"><a href="#${id}">${name}</a></h2>
<p>${description}</p>
${operations.map((operation) => docsOperation(operation, document))}${
  name === 'Webhooks' && docsWebhook(document)
}</section>
`,
)}${docsErrors()}</main>
</div>
</body>
</html>
`.text;
}
