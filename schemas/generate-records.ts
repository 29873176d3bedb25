import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type LoadedSchema, loadCurrentSchemas, loadReleasedSchemas, schemaAreas } from './schema-files.ts';

/**
 * `npm run schemas` writes `records.ts`, the TypeScript types of the records, from the `.avsc` files;
 * `npm run schemas -- release` also freezes what changed as the next released version.
 */

type AvroSchema =
  | string
  | readonly AvroSchema[]
  | Readonly<{
      type: AvroSchema;
      name?: string;
      doc?: string;
      items?: AvroSchema;
      fields?: readonly Readonly<{ name: string; type: AvroSchema; doc?: string }>[];
    }>;

const primitives: Readonly<Record<string, string>> = {
  null: 'null',
  boolean: 'boolean',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  string: 'string',
  bytes: 'Buffer',
  fixed: 'Buffer',
};

/** The text of `records.ts` for these schemas. */
export function recordTypesSource(schemas: readonly LoadedSchema[]): string {
  const nested = new Map<string, string>();
  const records = schemas.map((schema) => declaration(JSON.parse(schema.json), nested));
  const parts = [
    '// Written by `npm run schemas` from the .avsc files; change those instead.',
    ...nested.values(),
    ...records,
    mapDeclaration('RecordTypes', schemas),
    'export type RecordName = keyof RecordTypes;',
    ...schemaAreas.map((area) =>
      mapDeclaration(
        `${capitalised(area)}Records`,
        schemas.filter((schema) => schema.area === area),
      ),
    ),
    `export const recordNames = ${JSON.stringify(namesByArea(schemas))} as const;`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function declaration(
  schema: Exclude<AvroSchema, string | readonly AvroSchema[]>,
  nested: Map<string, string>,
): string {
  const fields = (schema.fields ?? []).map((field) => {
    const doc = field.doc === undefined ? '' : `  /** ${field.doc} */\n`;
    return `${doc}  ${field.name}: ${typeText(field.type, nested)};`;
  });
  const doc = schema.doc === undefined ? '' : `/** ${schema.doc} */\n`;
  return `${doc}export type ${schema.name} = Readonly<{\n${fields.join('\n')}\n}>;`;
}

function typeText(schema: AvroSchema, nested: Map<string, string>): string {
  if (typeof schema === 'string')
    return primitives[schema] ?? (/(Sha256|KeyHash)$/.test(schema) ? 'Buffer' : schema);
  if (Array.isArray(schema)) return schema.map((branch) => typeText(branch, nested)).join(' | ');
  const described = schema as Exclude<AvroSchema, string | readonly AvroSchema[]>;
  if (described.type === 'array') return `readonly ${typeText(described.items ?? 'null', nested)}[]`;
  if (described.type === 'record') {
    nested.set(described.name ?? '', declaration(described, nested));
    return described.name ?? '';
  }
  return typeText(described.type, nested);
}

function mapDeclaration(name: string, schemas: readonly LoadedSchema[]): string {
  return `export type ${name} = {\n${schemas.map((schema) => `  ${schema.name}: ${schema.name};`).join('\n')}\n};`;
}

function namesByArea(schemas: readonly LoadedSchema[]) {
  return Object.fromEntries(
    schemaAreas.map((area) => [
      area,
      schemas.filter((schema) => schema.area === area).map((schema) => schema.name),
    ]),
  );
}

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Copies each current schema whose fingerprint is new into `released/`, as its next version. */
function release(current: readonly LoadedSchema[]): void {
  for (const area of schemaAreas) mkdirSync(join(import.meta.dirname, 'released', area), { recursive: true });
  const known = new Set(loadReleasedSchemas().map((schema) => schema.fingerprint));
  for (const schema of current.filter(({ fingerprint }) => !known.has(fingerprint))) {
    const folder = join(import.meta.dirname, 'released', schema.area);
    const versions = readdirSync(folder).filter((file) => file.startsWith(`${schema.name}.`)).length;
    writeFileSync(join(folder, `${schema.name}.${versions + 1}.avsc`), schema.json);
    console.log(`released ${schema.area}/${schema.name} version ${versions + 1}`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const current = loadCurrentSchemas();
  writeFileSync(join(import.meta.dirname, 'records.ts'), recordTypesSource(current));
  if (process.argv.includes('release')) release(current);
}
