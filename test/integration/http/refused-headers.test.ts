import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiFixture, type ApiInstance, type Team } from '../api-fixture.ts';
import { RawClient } from './raw-client.ts';

/** Requests that are refused for their headers, whatever they bring. */

let fixture: ApiFixture;
let api: ApiInstance;
let team: Team;

beforeAll(async () => {
  fixture = await ApiFixture.open();
  api = await fixture.startApi();
  team = await fixture.createTeam({ cents: 1_000 });
});
afterAll(() => fixture?.close());

async function postClip(headers: OutgoingHttpHeaders): Promise<{ status: number; error: string }> {
  const body = JSON.stringify({ video_url: 'https://example.com/video.mp4' });
  const sent = request(`${api.url}/v1/clip`, {
    method: 'POST',
    headers: { 'x-api-key': team.key, 'content-type': 'application/json', ...headers },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { error } = JSON.parse(await text(response)) as { error: string };
  return { status: response.statusCode ?? 0, error };
}

test('two Idempotency-Keys could mean two orders', async () => {
  expect(await postClip({ 'idempotency-key': ['a', 'b'] })).toEqual({
    status: 400,
    error: 'There is more than one Idempotency-Key header. Send one.',
  });
});

test('a compressed body is not read as if it were none', async () => {
  expect(await postClip({ 'content-encoding': 'gzip' })).toEqual({
    status: 415,
    error: expect.stringMatching(/Content-Encoding/),
  });
});

/** What the server answers to these bytes. */
async function answerTo(bytes: string) {
  const client = await RawClient.connect(api.url);
  await client.send(bytes);
  const answer = await client.answer();
  const { received } = client;
  await client.closed();
  return { answer, received };
}

test.each([
  [
    'a request without a Host',
    'GET /v1/test HTTP/1.1\r\nConnection: close\r\n\r\n',
    400,
    /Host header is missing/,
  ],
  [
    'a request with two Hosts',
    'GET /v1/test HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n',
    400,
    /more than one Host/,
  ],
  ['what is no HTTP', 'HELO example.com\r\n\r\n', 400, /not a readable HTTP request/],
  ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n', 400, /this is none/],
  [
    'an expectation that nobody knows',
    'GET /v1/test HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n',
    417,
    /100-continue/,
  ],
])('%s is refused with JSON', async (_what, bytes, status, error) => {
  const { answer } = await answerTo(bytes);
  expect(answer).toMatchObject({ status, body: { error: expect.stringMatching(error) } });
});

describe('a client that asks before it sends its body', () => {
  const head = (path: string, key: string, type: string, length: number) =>
    [
      `POST ${path} HTTP/1.1`,
      'Host: test',
      'Expect: 100-continue',
      `X-API-Key: ${key}`,
      `Content-Type: ${type}`,
      `Content-Length: ${length}`,
      '',
      '',
    ].join('\r\n');

  test.each([
    ['/v1/clip', 'application/json'],
    ['/v1/clip', 'multipart/form-data; boundary=x'],
    ['/v1/face-swap', 'multipart/form-data; boundary=x'],
  ])('is refused by the checks of the key without it: %s, %s', async (path, type) => {
    const poor = await fixture.createTeam({ cents: 0 });
    const inactive = await fixture.createTeam({ isActive: false });
    for (const [key, status] of [
      ['', 401],
      ['cl_wrong', 401],
      [poor.key, 402],
      [inactive.key, 403],
    ] as const) {
      const { answer, received } = await answerTo(head(path, key, type, 1_000));
      expect(answer?.status).toBe(status);
      expect(received).not.toContain('100 Continue');
    }
  });

  test('is asked for it once the key is good', async () => {
    const client = await RawClient.connect(api.url);
    const body = JSON.stringify({ num_clips: 2 });
    await client.send(head('/v1/clip', team.key, 'application/json', body.length));
    await client.receives('100 Continue');
    await client.send(body);
    expect(await client.answer()).toMatchObject({ status: 400, body: { details: [{ path: 'video_url' }] } });
    client.abort();
  });
});
