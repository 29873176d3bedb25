import { type Html, html } from './html.ts';
import type { JsonSchema } from './openapi-types.ts';

/** Lists of fields, as the page at `/docs` shows schemas. */

/** What marks a field that is never left out: of what a client sends, or of what it gets. */
type Mark = 'required' | 'always there';

/** The fields of `schema`, each object's own below it; nothing for a schema without fields. */
export function fieldList(schema: JsonSchema, mark: Mark): Html | undefined {
  const rows = fieldRows(schema, mark, '');
  return rows.length === 0 ? undefined : html`<dl>${rows}</dl>`;
}

/** One line of such a list. */
export const fieldRow = (row: {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly mark: Mark | undefined;
  readonly description: string | undefined;
}): Html => html`<div><dt><code>${row.name}</code> <small>${typeText(row.schema)}${row.mark !== undefined && html` <span class="${row.mark === 'required' ? 'must' : 'soft'}">${row.mark}</span>`}</small></dt>
<dd>${row.description !== undefined && html`<p>${row.description}</p>`}${rules(row.schema)}</dd></div>
`;

function fieldRows(schema: JsonSchema, mark: Mark, prefix: string): readonly Html[] {
  const seen = new Set<string>();
  return alternatives(schema).flatMap((member) =>
    Object.entries(member.properties ?? {}).flatMap(([field, inner]) => {
      if (seen.has(field)) return [];
      seen.add(field);
      const name = `${prefix}${field}`;
      const isRequired = alternatives(schema).every(({ required = [] }) => required.includes(field));
      const row = fieldRow({
        name,
        schema: inner,
        mark: isRequired ? mark : undefined,
        description: inner.description,
      });
      const isList = inner.items !== undefined;
      return [row, ...fieldRows(inner.items ?? inner, mark, `${name}${isList ? '[]' : ''}.`)];
    }),
  );
}

/** What a schema can be: a union's members, or itself. */
const alternatives = (schema: JsonSchema): readonly JsonSchema[] =>
  schema.properties === undefined ? (schema.oneOf ?? schema.anyOf ?? [schema]) : [schema];

/** Such as `integer` or `string, date-time or null`. */
export function typeText(schema: JsonSchema): string {
  if (schema.contentMediaType !== undefined) return 'file';
  const members = schema.oneOf ?? schema.anyOf;
  if (members !== undefined && schema.type === undefined)
    return [...new Set(members.map(typeText))].join(' or ');
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}s`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  return schema.format === undefined ? type : `${type}, ${schema.format}`;
}

function rules(schema: JsonSchema): Html | undefined {
  const { minimum, maximum, minLength, maxLength } = schema;
  const texts = [
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}`,
    minimum !== undefined && maximum === undefined && `at least ${minimum}`,
    minimum === undefined && maximum !== undefined && `at most ${maximum}`,
    minLength !== undefined && `at least ${minLength} characters`,
    maxLength !== undefined && `at most ${maxLength} characters`,
  ].filter((text) => text !== false);
  const words = schema.enum ?? [];
  if (texts.length === 0 && words.length === 0 && schema.default === undefined) return undefined;
  return html`<p class="soft">${texts.join(', ')}${words.map((word, index) => html`${index > 0 && ' · '}<code>${word}</code>`)}${
    schema.default !== undefined &&
    html`${(texts.length > 0 || words.length > 0) && '; '}default <code>${String(schema.default)}</code>`
  }</p>`;
}
