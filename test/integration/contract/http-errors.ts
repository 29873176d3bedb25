import { beforeAll, describe, expect, test } from 'vitest';
import type { Client } from './client.ts';
import type { ContractSystem } from './contract-system.ts';
import { expectError, expectInvalid, expectRateLimit } from './expectations.ts';

const json = 'application/json';

/** What is wrong with a request before anybody looks at its fields. */
export function httpErrorsContract(system: () => ContractSystem): void {
  let client: Client;
  beforeAll(async () => {
    client = system().rich;
  });
  const post = (body: string, contentType: string) =>
    client.send('POST', '/v1/clip', { body, headers: { 'content-type': contentType } });

  test.concurrent.each([
    ['broken JSON', '{"video_url":', json, 400],
    ['JSON that ends too late', '{}x', json, 400],
    ['no JSON at all', 'video_url=x', json, 400],
    ['a list', '[]', json, 400],
    ['null', 'null', json, 400],
    ['a number', '1', json, 400],
    ['nothing', '', json, 400],
    ['a field twice', '{"num_clips": 1, "num_clips": 2}', json, 400],
    ['UTF-16', '{}', `${json}; charset=utf-16`, 415],
    ['text', '{}', 'text/plain', 415],
    ['a query string', 'num_clips=1', 'application/x-www-form-urlencoded', 415],
    ['a form without a boundary', '--x--', 'multipart/form-data', 400],
    ['too much', JSON.stringify({ prompt: 'x'.repeat(1_000_000) }), json, 413],
  ])('%s', async (_what, body, contentType, status) => {
    const answer = await post(body, contentType);
    expectError(answer, status);
    expectRateLimit(answer, 1_000_000);
  });

  test.concurrent('a field twice is named', async () => {
    const answer = await post('{"video_url": "https://example.com", "num_clips": 1, "num_clips": 10}', json);
    expectInvalid(answer, 'num_clips', ['more than once']);
  });

  test.concurrent.each(['__proto__', 'constructor', 'prototype', 'toString'])(
    'a field named %s is not known',
    async (name) => {
      const text = `{"video_url": "https://example.com/v.mp4", "${name}": {"prototype": {}}}`;
      expectInvalid(await post(text, json), name, ['is not known']);
    },
  );

  describe('routes', () => {
    test.concurrent.each([
      ['GET', '/v1/nothing', 404, null],
      ['GET', '/v1/clips', 404, null],
      ['GET', '/v2/clip', 404, null],
      ['GET', '/v1/test/', 404, null],
      ['POST', '/v1/test', 405, 'GET, HEAD'],
      ['POST', '/v1/wallet', 405, 'GET, HEAD'],
      ['PUT', '/v1/clip', 405, 'POST'],
      ['PATCH', '/v1/keys', 405, 'GET, HEAD, POST'],
      ['GET', '/v1/clip', 405, 'POST'],
      ['GET', '/v1/face-swap', 405, 'POST'],
    ])('%s %s is a %s', async (method, path, status, allow) => {
      const answer = await client.send(method, path, {});
      expectError(answer, status);
      expect(answer.headers.get('allow')).toBe(allow);
    });

    test.concurrent('asking for a job without its id is told so', async () => {
      expect(expectError(await client.get('/v1/clip'), 405)).toContain('/v1/clip/{jobId}');
      expectError(await client.get('/v1/clip/'), 404);
    });
  });

  test.concurrent.each(['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs'])(
    '%s asks for no key',
    async (path) => {
      const response = await fetch(`${system().baseUrls[0]}${path}`);
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    },
  );
}
