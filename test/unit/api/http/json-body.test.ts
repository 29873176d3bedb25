import Fastify from 'fastify';
import { afterAll, describe, expect, test } from 'vitest';
import { acceptJson } from '#api/http/json-body.ts';
import { RefusedBody } from '#api/http/refused-body.ts';
import { findWrongField } from '#api/http/wrong-field.ts';

describe('a field that is there twice', () => {
  test.each([
    ['{"a": 1, "a": 2}', 'a'],
    ['{"a": 1, "b": 2, "\\u0061": 3}', 'a'],
    ['{"heading": {"text": "x", "style": "stroke", "text": "y"}}', 'heading.text'],
    ['[1, {"a": [{"b": {"c": 1, "c": 2}}]}]', 'a.b.c'],
    ['{"a": {"x": 1}, "b": [{"x": 1}, {"x": 2}], "a": 1}', 'a'],
    ['{"": 1, "": 2}', ''],
  ])('%s', (json, path) => expect(findWrongField(json)).toEqual({ kind: 'twice', path: path.split('.') }));

  test.each([
    '{}',
    '"a"',
    '[{"a": 1}, {"a": 1}]',
    '{"a": "a", "b": "a\\": \\"a", "c": {"a": "{\\"b\\": 1}"}}',
    '{"a": ["a", "a"], "A": "\\\\", "b": "\\\\\\""}',
  ])('is not in %s', (json) => expect(findWrongField(json)).toBeUndefined());

  test('is found in long texts as well', () => {
    const long = JSON.stringify({ a: 'x'.repeat(120_000), b: '\\"'.repeat(60_000), c: [] });
    expect(findWrongField(long)).toBeUndefined();
    expect(findWrongField(`${long.slice(0, -1)},"b":1}`)).toEqual({ kind: 'twice', path: ['b'] });
  });
});

describe('a field that no schema sees', () => {
  test.each([
    ['{"__proto__": {}}', ['__proto__']],
    ['{"heading": {"\\u005f_proto__": 1}}', ['heading', '__proto__']],
  ])('%s', (json, path) => expect(findWrongField(json)).toEqual({ kind: 'never', path }));

  test.each(['{"constructor": {"prototype": {}}}', '{"prototype": 1, "toString": 2}', '{"a": "__proto__"}'])(
    'is not in %s',
    (json) => expect(findWrongField(json)).toBeUndefined(),
  );
});

describe('reading JSON', () => {
  const server = Fastify();
  server.removeAllContentTypeParsers();
  acceptJson(server);
  server.setErrorHandler((error, _request, reply) =>
    error instanceof RefusedBody
      ? reply.code(error.answer.status).send(error.answer.body)
      : reply.code(400).send({ error: 'not JSON' }),
  );
  server.post('/', ({ body }) => ({ body: body ?? 'none' }));
  afterAll(() => server.close());

  const post = async (payload: string | Buffer, contentType = 'application/json') => {
    const headers = { 'content-type': contentType };
    const answer = await server.inject({ method: 'POST', url: '/', headers, payload });
    return { status: answer.statusCode, body: answer.json() as unknown };
  };

  test.each(['application/json', 'application/json; charset=utf-8', 'application/json;Charset="UTF-8"'])(
    'takes %s',
    async (contentType) =>
      expect(await post('{"a": "ä"}', contentType)).toEqual({ status: 200, body: { body: { a: 'ä' } } }),
  );

  test.each(['utf-16', 'UTF-16LE', 'latin1', '"iso-8859-1"', ''])('refuses the charset %j', async (charset) =>
    expect(await post('{}', `application/json; charset=${charset}`)).toMatchObject({
      status: 415,
      body: { error: expect.stringContaining('UTF-8') },
    }),
  );

  test('refuses bytes that are no UTF-8 instead of changing them', async () =>
    expect(await post(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('UTF-8') },
    }));

  test('names the field that is there twice', async () =>
    expect(await post('{"num_clips": 1, "num_clips": 10}')).toEqual({
      status: 400,
      body: {
        error: 'num_clips is there more than once; send it once.',
        details: [{ path: 'num_clips', message: 'num_clips is there more than once; send it once.' }],
      },
    }));

  test('an empty body counts as none', async () =>
    expect(await post('', 'application/json; charset=utf-16')).toEqual({
      status: 200,
      body: { body: 'none' },
    }));
});
