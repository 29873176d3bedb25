import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readMetric } from '#test/stack/process-metrics.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { openTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { file, formOf, formType, mp4Like, partHead, text } from './form.ts';
import { RawClient } from './raw-client.ts';
import { errorOf, postParts, UploadedObjects } from './upload-fixture.ts';

/** Uploads that do not come to their end: refused on the way, broken off, too slow, or without a storage. */

const MiB = 1024 ** 2;
const PIECE = Buffer.alloc(64 * 1024, 0x62);
const boundary = 'B';
const videoHead = partHead(boundary, { name: 'video', fileName: 'talk.mp4' });

let fixture: ApiFixture;
let api: ApiInstance;
/** The same service, with the object storage behind a proxy. */
let remote: ApiInstance;
let s3: TcpProxy;
let team: Team;
let objects: UploadedObjects;

beforeAll(async () => {
  fixture = await ApiFixture.open({
    UPLOAD_IDLE_LIMIT: '3s',
    REQUEST_TIME_LIMIT: '2s',
    RATE_LIMIT_PER_MINUTE: '100000',
  });
  const endpoint = new URL(fixture.environment['S3_ENDPOINT'] ?? '');
  s3 = await openTcpProxy({ host: endpoint.hostname, port: Number(endpoint.port) });
  [api, remote] = await Promise.all([
    fixture.startApi(),
    fixture.startApi({ S3_ENDPOINT: `http://127.0.0.1:${s3.port}` }),
  ]);
  team = await fixture.createTeam({ cents: 100_000 });
  objects = new UploadedObjects(fixture.environment);
});
afterAll(async () => {
  objects?.close();
  await fixture?.close();
  await s3?.close();
});

async function beginForm(headers: Record<string, string | number> = {}, at = api): Promise<RawClient> {
  const client = await RawClient.connect(at.url);
  const sent = {
    'x-api-key': team.key,
    'content-type': formType(boundary),
    'content-length': 10 ** 9,
    ...headers,
  };
  await client.sendHead('/v1/clip', sent);
  return client;
}

async function sendPieces(client: RawClient, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes && !client.isClosed; sent += PIECE.length) await client.send(PIECE);
}

const untilNothingIsLeft = () =>
  until('uploads to be cleaned up', async () => {
    const underWay = await readMetric(api.url, 'clipledger_uploads_under_way');
    return underWay === 0 && (await objects.all()).length === 0;
  });

describe('a client that still sends', () => {
  test('hears at once that its file has the wrong type, and then the connection is closed', async () => {
    const client = await beginForm();
    await client.send(videoHead);
    await client.send(PIECE);
    const answer = await client.answer();
    expect([answer?.status, answer?.headers.get('connection')]).toEqual([415, 'close']);
    // It goes on for as long as it is let, and that is not for the gigabyte that it announced.
    await sendPieces(client, 500 * MiB);
    await client.closed();
    await untilNothingIsLeft();
  });

  test('hears that its key is not valid', async () => {
    const client = await beginForm({ 'x-api-key': 'cl_nonsense' });
    await sendPieces(client, 2 * MiB);
    expect((await client.answer())?.status).toBe(401);
    client.abort();
  });

  test('hears that its endless field is too long', async () => {
    const client = await beginForm();
    await client.send(partHead(boundary, { name: 'prompt' }));
    await sendPieces(client, 1 * MiB);
    await client.send(`\r\n${videoHead}`);
    await client.send(PIECE);
    expect((await client.answer())?.body['error']).toBe('prompt must be at most 65536 bytes.');
    client.abort();
    await untilNothingIsLeft();
  });

  test('hears that what it announces is too large, before it sends it', async () => {
    const client = await beginForm({ 'content-length': 10 ** 12 });
    expect((await client.answer())?.status).toBe(413);
    client.abort();
  });
});

describe('a client that goes away', () => {
  test('in the middle of a large file leaves nothing', async () => {
    const client = await beginForm();
    await client.send(videoHead);
    await client.send(mp4Like(PIECE.length));
    await sendPieces(client, 11 * MiB);
    await until('a part to be in storage', async () => (await objects.unfinished()).length === 1);
    client.abort();
    await untilNothingIsLeft();
  });

  test('after one whole file leaves nothing', async () => {
    const client = await beginForm();
    await client.send(videoHead);
    await client.send(mp4Like(1000));
    await client.send(`\r\n${partHead(boundary, { name: 'length' })}`);
    await until('the file to be in storage', async () => (await objects.keys()).length === 1);
    client.abort();
    await untilNothingIsLeft();
  });

  test('half closing the connection counts as broken off', async () => {
    const client = await beginForm();
    await client.send(videoHead);
    await client.send(mp4Like(1000));
    client.end();
    await client.closed();
    await untilNothingIsLeft();
  });
});

describe('a client that is slow', () => {
  test.each([
    ['falls silent', async () => undefined],
    [
      'sends a byte now and then',
      async (client: RawClient) => {
        for (; client.received === '' && !client.isClosed; await delay(50)) await client.send('x');
      },
    ],
  ])('and %s is answered 408', async (_name, behave) => {
    const client = await beginForm();
    await client.send(videoHead);
    await client.send(mp4Like(6 * MiB));
    await behave(client);
    expect((await client.answer())?.status).toBe(408);
    client.abort();
    await untilNothingIsLeft();
  });

  test('but steady is waited for', async () => {
    const form = formOf([file('video', mp4Like(1 * MiB)), text('length', '20')], boundary);
    const client = await beginForm({ 'content-length': form.body.length });
    for (let at = 0; at < form.body.length; at += PIECE.length) {
      await client.send(form.body.subarray(at, at + PIECE.length));
      // Longer in all than the idle limit.
      await delay(300);
    }
    expect((await client.answer())?.status).toBe(200);
    client.abort();
    await objects.clear();
  });

  test('with JSON is answered 408 after the time limit', async () => {
    const client = await beginForm({ 'content-type': 'application/json', 'content-length': 100 });
    await client.send('{"video_url": ');
    expect((await client.answer())?.status).toBe(408);
    await client.closed();
  });
});

test('a connection serves the next request after a form', async () => {
  const form = formOf([text('length', '9')], boundary);
  const client = await beginForm({ 'content-length': form.body.length });
  await client.send(form.body);
  expect((await client.answer())?.headers.get('connection')).toBe('keep-alive');
  client.abort();
});

test('a form that comes byte by byte is a form', async () => {
  const form = formOf([text('length', '20'), file('video', mp4Like(300)), text('num_clips', '11')], boundary);
  const client = await beginForm({ 'content-length': form.body.length });
  for (const byte of form.body) await client.send(Buffer.of(byte));
  expect((await client.answer())?.body['error']).toBe('num_clips must be an integer from 1 to 10.');
  client.abort();
  await untilNothingIsLeft();
});

describe('without object storage', () => {
  const upload = (bytes: number) =>
    postParts(remote, [file('video', mp4Like(bytes))], { 'x-api-key': team.key });

  test('an upload is answered 503 and to be tried again', async () => {
    s3.become('refuse');
    const answer = await upload(100_000);
    expect([errorOf(answer), answer.headers.get('retry-after')]).toEqual([
      '503 The service cannot answer right now. Try again in a few seconds.',
      '2',
    ]);
    s3.become('pass');
    expect((await upload(100_000)).status).toBe(200);
    await objects.clear();
  });

  test('that goes away in the middle, too, and what is left goes when it is swept', async () => {
    const client = await beginForm({}, remote);
    await client.send(videoHead);
    await client.send(mp4Like(PIECE.length));
    await sendPieces(client, 11 * MiB);
    await until('a part to be in storage', async () => (await objects.unfinished()).length === 1);
    s3.become('refuse');
    await sendPieces(client, 11 * MiB);
    expect((await client.answer())?.status).toBe(503);
    client.abort();
    s3.become('pass');
    await objects.clear();
    expect(await objects.all()).toEqual([]);
  });
});

test('more uploads at once than the limit are answered 503', async () => {
  const small = await fixture.startApi({ UPLOADS_AT_ONCE: '1' });
  const client = await beginForm({}, small);
  await client.send(videoHead);
  await until(
    'the first upload',
    async () => (await readMetric(small.url, 'clipledger_uploads_under_way')) > 0,
  );
  const answer = await postParts(small, [file('video', mp4Like(100))], { 'x-api-key': team.key });
  expect(errorOf(answer)).toBe('503 Too many uploads are under way. Try again in a few seconds.');
  client.abort();
  await untilNothingIsLeft();
  await small.stop();
});

test('an instance that stops ends its uploads', async () => {
  const small = await fixture.startApi();
  const client = await beginForm({}, small);
  await client.send(videoHead);
  await client.send(mp4Like(6 * MiB));
  const stopped = small.stop();
  // Not silent, so that it is not refused for that.
  const sending = (async () => {
    for (; client.received === '' && !client.isClosed; await delay(20)) await client.send(PIECE);
  })();
  expect((await client.answer())?.body['error']).toContain('is stopping');
  client.abort();
  await sending;
  await stopped;
  await untilNothingIsLeft();
});
