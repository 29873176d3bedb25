import { z } from 'zod';
import { fieldNotes } from './field-notes.ts';
import type { JsonSchema } from './openapi-types.ts';
import type { NamedSchema } from './operation.ts';

/** Where the document has the schema of this name. */
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** The JSON Schemas of zod's, with what `fieldNotes` says of their fields. */
export function componentSchemas(named: readonly NamedSchema[]): Record<string, JsonSchema> {
  return Object.fromEntries(
    named.map(({ name, schema }) => {
      const converted = inlineSchema(schema);
      addNotes(converted, name, '');
      return [name, converted];
    }),
  );
}

/** The JSON Schema of `schema`, with nothing in it that is only zod's. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  const converted = z.toJSONSchema(schema, { override: ({ jsonSchema }) => simplify(jsonSchema) });
  const { $schema: _, ...rest } = converted;
  return rest as JsonSchema;
}

const noControlCharacters = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/** Bounds of safe integers and the regular expressions behind formats tell a reader nothing. */
function simplify(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
  // The same for tools that know no Unicode classes.
  for (const part of schema.allOf ?? [])
    if (part.pattern === '^\\P{Cc}*$') part.pattern = noControlCharacters;
  // A file in a form: OpenAPI 3.1 says so by the media type.
  if (schema.format === 'binary') {
    delete schema.format;
    delete schema.contentEncoding;
    schema.contentMediaType = 'application/octet-stream';
  }
}

function addNotes(schema: JsonSchema, component: string, path: string): void {
  for (const member of [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])]) addNotes(member, component, path);
  if (schema.items !== undefined) addNotes(schema.items, component, path);
  for (const [field, inner] of Object.entries(schema.properties ?? {})) {
    const innerPath = path === '' ? field : `${path}.${field}`;
    Object.assign(inner, fieldNotes[component]?.[innerPath]);
    addNotes(inner, component, innerPath);
  }
}

/** The dotted paths of all fields of a schema; those of a list's items as if they were the list's own. */
export function fieldPaths(schema: JsonSchema, path = ''): readonly string[] {
  const members = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])];
  const inner = Object.entries(schema.properties ?? {}).flatMap(([field, value]) => {
    const innerPath = path === '' ? field : `${path}.${field}`;
    return [innerPath, ...fieldPaths(value, innerPath)];
  });
  return [...new Set([...members.flatMap((member) => fieldPaths(member, path)), ...inner])];
}
