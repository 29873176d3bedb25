import { fieldList, fieldRow } from './docs-fields.ts';
import { refusalRow } from './docs-introduction.ts';
import type { PlacedOperation } from './docs-page.ts';
import { type Html, html } from './html.ts';
import type {
  HeaderObject,
  JsonSchema,
  MediaType,
  OpenApiDocument,
  ResponseObject,
} from './openapi-types.ts';

/** One operation: how to call it, with what, and all that it can answer. */
export function docsOperation({ method, path, operation }: PlacedOperation, document: OpenApiDocument): Html {
  const { operationId, parameters } = operation;
  const responses = Object.entries(operation.responses);
  const bodies = Object.entries(operation.requestBody?.content ?? {});
  return html`<article>
<h3 id="${operationId}"><a href="#${operationId}">${operation.summary}</a></h3>
<p class="route"><code><span class="method ${method}">${method.toUpperCase()}</span>${path}</code></p>
<p>${operation.description}</p>
${operation['x-codeSamples'].map(
  ({
    label,
    source,
  }) => html`<figure><figcaption>${label}</figcaption><pre class="command"><code>${source}</code></pre></figure>
`,
)}${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
<dl>${parameters.map(({ name, required, schema, description, in: place }) =>
    fieldRow({
      name,
      schema: { ...schema, format: place },
      mark: required ? 'required' : undefined,
      description,
    }),
  )}</dl>
`
}${bodies.map(
  ([type, { schema }]) => html`<h4>Body <small>${type}</small></h4>
${fieldList(resolved(schema, document), 'required')}
`,
)}${responses.filter(isSuccess).map(([status, response]) => success(status, response, document))}${refusals(
  responses.filter((response) => !isSuccess(response)),
)}</article>
`;
}

const isSuccess = ([status, { content }]: readonly [string, ResponseObject]): boolean =>
  status < '400' ||
  !/Error|InvalidRequest|InsufficientFunds/.test(content['application/json']?.schema.$ref ?? '');

function success(status: string, response: ResponseObject, document: OpenApiDocument): Html {
  const own = Object.entries(response.headers).filter(([name]) => !name.startsWith('RateLimit'));
  return html`<h4>${status} <small>${response.description}</small></h4>
${
  own.length > 0 &&
  html`<p class="soft">Headers: ${own.map(([name, header], index) => html`${index > 0 && ' '}<code>${name}</code> ${headerText(header, document)}`)}</p>
`
}${Object.values(response.content).map(
  (media) => html`${fieldList(resolved(media.schema, document), 'always there')}
${exampleFigures(media)}`,
)}
`;
}

const exampleFigures = ({ examples = {} }: MediaType): readonly Html[] =>
  Object.entries(examples).map(
    ([name, { value }]) => html`<figure><figcaption>${name}</figcaption><pre><code>${
      typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    }</code></pre></figure>
`,
  );

function refusals(responses: readonly (readonly [string, ResponseObject])[]): Html {
  const rows = responses.flatMap(([status, { content }]) =>
    Object.values(content).flatMap(({ examples = {} }) =>
      Object.values(examples).map(({ summary = '', value }) =>
        refusalRow(status, String((value as { error?: unknown }).error), summary),
      ),
    ),
  );
  return html`<details><summary>What it refuses (${rows.length})</summary>
<dl class="refusals">
${rows}</dl></details>
`;
}

const resolved = (schema: JsonSchema, { components }: OpenApiDocument): JsonSchema =>
  schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? schema);

function headerText(header: HeaderObject, { components }: OpenApiDocument): string {
  const found = '$ref' in header ? components.headers[header.$ref.split('/').at(-1) ?? ''] : header;
  return found?.description ?? '';
}
