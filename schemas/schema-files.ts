import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import avro from 'avsc';
import { rabinFingerprint } from './rabin-fingerprint.ts';

/** The folders under `avro/`: which topic's language a record belongs to. */
export const schemaAreas = ['wallet', 'team', 'job', 'command', 'reply', 'state'] as const;
export type SchemaArea = (typeof schemaAreas)[number];

/** One `.avsc` file, parsed. `fingerprint` is the hex of its 8 bytes as they stand in the log. */
export type LoadedSchema = Readonly<{
  area: SchemaArea;
  name: string;
  type: avro.Type;
  json: string;
  fingerprint: string;
}>;

const schemasFolder = import.meta.dirname;

/** The schemas that are written today, from `avro/<area>/<Name>.avsc`. */
export function loadCurrentSchemas(): readonly LoadedSchema[] {
  return schemaAreas.flatMap((area) => loadFolder(area, join(schemasFolder, 'avro', area)));
}

/** Every schema that was ever released, from `released/<area>/<Name>.<n>.avsc`; these files never change. */
export function loadReleasedSchemas(): readonly LoadedSchema[] {
  return schemaAreas.flatMap((area) => loadFolder(area, join(schemasFolder, 'released', area)));
}

function loadFolder(area: SchemaArea, folder: string): readonly LoadedSchema[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.avsc'))
    .sort()
    .map((file) => parseSchema(area, readFileSync(join(folder, file), 'utf8')));
}

/** `json` as a schema. avsc's `schema()` is the Parsing Canonical Form, which the fingerprint is taken of. */
export function parseSchema(area: SchemaArea, json: string): LoadedSchema {
  const type = avro.Type.forSchema(JSON.parse(json));
  const name = (type.name ?? '').replace(/^.*\./, '');
  const fingerprint = rabinFingerprint(JSON.stringify(type.schema())).toString('hex');
  return { area, name, type, json, fingerprint };
}
