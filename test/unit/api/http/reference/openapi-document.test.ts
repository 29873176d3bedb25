import { describe, expect, test } from 'vitest';
import type { KnownRoute } from '#api/http/allowed-methods.ts';
import { errorBody, insufficientBody, invalidBody } from '#api/http/error-bodies.ts';
import type { HttpService } from '#api/http/http-service.ts';
import { keyRefusals, serviceRefusals } from '#api/http/reference/common-refusals.ts';
import { fieldNotes } from '#api/http/reference/field-notes.ts';
import { fieldPaths } from '#api/http/reference/json-schemas.ts';
import { openApiDocument } from '#api/http/reference/openapi-document.ts';
import { operations } from '#api/http/reference/operations.ts';
import { buildServer } from '#api/http/server.ts';
import { parseConfig } from '#infra/config.ts';
import { createLogger } from '#infra/log.ts';

const document = openApiDocument(operations);

test('every route is documented, and every documented operation is a route', async () => {
  const config = parseConfig({ LOG_LEVEL: 'silent' });
  const routes: KnownRoute[] = [];
  // Nothing is asked of it, so what it stands on need not be there.
  const service = {
    config,
    log: createLogger(config, 'api'),
    uploads: { stop: () => undefined },
  } as unknown as HttpService;
  const server = buildServer(service, routes);
  await server.ready();
  await server.close();
  const served = routes.flatMap(({ methods, path }) =>
    methods
      // HEAD is GET without the body; fastify adds it by itself.
      .filter((method) => method !== 'HEAD')
      .map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
  );
  const documented = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(documented.sort()).toEqual(served.sort());
});

test('ids of operations are there once', () => {
  const ids = operations.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

describe.each(operations.map((operation) => [operation.id, operation] as const))('%s', (_id, operation) => {
  const { bodies = [], successes, refusals = [], parameters = [], path } = operation;

  test('has examples that fit its schemas', () => {
    for (const { body, examples } of bodies)
      for (const example of Object.values(examples)) body.schema.parse(example);
    for (const { body, examples } of successes)
      for (const example of Object.values(examples)) if (body !== undefined) strictly(body.schema, example);
    for (const { schema, example } of parameters) schema.parse(example);
    expect(successes.every(({ examples }) => Object.keys(examples).length > 0)).toBe(true);
  });

  test('documents each of its refusals with its own text', () => {
    const inherited = operation.access === 'key' ? keyRefusals : [];
    const responses = document.paths[path]?.[operation.method]?.responses ?? {};
    const succeeds = new Set(successes.map(({ status }) => status));
    for (const { answer } of [...inherited, ...refusals, ...serviceRefusals]) {
      if (succeeds.has(answer.status)) continue;
      const examples = Object.values(responses[answer.status]?.content['application/json']?.examples ?? {});
      expect(examples.map(({ value }) => value)).toContainEqual(answer.body);
      const schema =
        { 400: invalidBody, 402: insufficientBody, 501: invalidBody }[answer.status] ?? errorBody;
      strictly(schema, answer.body);
    }
  });

  test('names the parameters of its path, and has a command to paste', () => {
    const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
    expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
    expect(operation.commands.length).toBeGreaterThan(0);
    for (const { text } of operation.commands) expect(text).toContain('curl');
  });
});

/** Parses what must not have any other fields than those of the schema: parsing leaves those out. */
function strictly(schema: { parse(value: unknown): unknown }, value: unknown): void {
  expect(schema.parse(value)).toEqual(value);
}

test('every field is explained, and nothing else is', () => {
  const explained = Object.entries(fieldNotes).flatMap(([name, notes]) =>
    Object.keys(notes).map((path) => `${name} ${path}`),
  );
  const fields = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    fieldPaths(schema).map((path) => `${name} ${path}`),
  );
  expect(explained.sort()).toEqual(fields.sort());
});

test('all references lead somewhere', () => {
  const references = JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g);
  for (const [, kind, name] of references) {
    const components = document.components[kind as 'schemas' | 'headers'];
    expect(components).toHaveProperty([name ?? '']);
  }
});

test('values of defaults are allowed by their own schemas', () => {
  const clip = document.components.schemas['ClipRequest']?.properties ?? {};
  expect(clip['num_clips']).toMatchObject({ type: 'integer', minimum: 1, maximum: 10, default: 1 });
  expect(clip['style']?.enum).toContain(clip['style']?.default);
  expect(clip['camera_mode']?.enum).toContain(clip['camera_mode']?.default);
});
