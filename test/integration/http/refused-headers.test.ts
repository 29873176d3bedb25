import { once } from 'node:events';
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiFixture, type ApiInstance, type Team } from '../api-fixture.ts';

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
