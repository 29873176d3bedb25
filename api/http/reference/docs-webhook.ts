import { fieldList, fieldRow } from './docs-fields.ts';
import { type Html, html } from './html.ts';
import type { OpenApiDocument } from './openapi-types.ts';

/** The one request that the service makes of its clients: what comes to a `callback_url`. */
export function docsWebhook({ webhooks }: OpenApiDocument): Html {
  const { operationId, summary, description, parameters, requestBody, responses } = webhooks.jobEnded.post;
  return html`<article>
<h3 id="${operationId}"><a href="#${operationId}">${summary}</a></h3>
<p class="route"><code><span class="method post">POST</span>your callback_url</code></p>
<p>${description}</p>
<h4>Headers</h4>
<dl>${parameters.map(({ name, required, schema, description: what }) =>
    fieldRow({ name, schema, mark: required ? 'always there' : undefined, description: what }),
  )}</dl>
${Object.entries(requestBody?.content ?? {}).map(
  ([type, { schema }]) => html`<h4>Body <small>${type}</small></h4>
${fieldList(schema, 'always there')}
`,
)}<h4>What you answer</h4>
<dl class="refusals">${Object.entries(responses).map(
    ([status, { description: what }]) => html`<div><dt>${status}</dt><dd><p>${what}</p></dd></div>
`,
  )}</dl>
</article>
`;
}
