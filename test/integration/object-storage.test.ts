import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ObjectStorage, type ObjectStorageSettings } from '#infra/object-storage/object-storage.ts';
import { ensureLifecycleRules, sweepExpired } from '#infra/object-storage/retention.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { usePlatform } from '#test/stack/use-platform.ts';

let folder: string;
let storage: ObjectStorage;

const platform = await usePlatform();

function settings(over: Partial<ObjectStorageSettings> = {}): ObjectStorageSettings {
  const { endpoint, region, accessKeyId, secretAccessKey } = platform.servers.s3;
  const bucket = `objects-${randomUUID()}`;
  return { endpoint, region, accessKeyId, secretAccessKey, bucket, forcePathStyle: true, ...over };
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'));
  storage = ObjectStorage.connect(settings());
  await storage.ensureBucket();
});

afterAll(async () => {
  await storage.deletePrefix('');
  storage.close();
  await rm(folder, { recursive: true, force: true });
});

const octets = { contentType: 'application/octet-stream' };
const failureOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);

async function keysUnder(prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const object of storage.list(prefix)) keys.push(object.key);
  return keys;
}

describe('object storage', () => {
  test('several processes may make sure of the bucket at once', async () => {
    const fresh = ObjectStorage.connect(settings());
    await Promise.all([fresh.ensureBucket(), fresh.ensureBucket(), fresh.ensureBucket()]);
    expect(await fresh.reachable()).toBe(true);
    fresh.close();
  });

  test('bytes come back as they were, and a second put replaces them', async () => {
    await storage.putBytes('plans/a.json', Buffer.from('{"a":1}'), { contentType: 'application/json' });
    await storage.putBytes('plans/a.json', Buffer.from('{"a":2}'), { contentType: 'application/json' });
    expect((await storage.getBytes('plans/a.json', 100)).toString()).toBe('{"a":2}');
    expect(await storage.head('plans/a.json')).toEqual({ bytes: 7, contentType: 'application/json' });
  });

  test('a large file goes up in parts and comes down with its hash', async () => {
    const content = randomBytes(20 * 1024 * 1024);
    await writeFile(join(folder, 'large'), content);
    await storage.putFile('files/large', join(folder, 'large'), octets);
    const copied = await storage.getToFile('files/large', join(folder, 'copy'), { maxBytes: content.length });
    expect(copied).toEqual({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect((await readFile(join(folder, 'copy'))).equals(content)).toBe(true);
  });

  test('a download over its limit is refused', async () => {
    await storage.putBytes('files/ten', Buffer.alloc(10), octets);
    const error = await failureOf(storage.getToFile('files/ten', join(folder, 'ten'), { maxBytes: 9 }));
    expect(error).toMatchObject({ code: 'TOO_LARGE', retryable: false });
    expect(await failureOf(storage.getBytes('files/ten', 9))).toMatchObject({ code: 'TOO_LARGE' });
  });

  test('a stream that fails or is stopped leaves no object', async () => {
    const broken = Readable.from(
      (async function* () {
        yield randomBytes(9 * 1024 * 1024);
        throw new Error('the client went away');
      })(),
    );
    expect(await failureOf(storage.putStream('files/broken', broken, octets))).toBeInstanceOf(StorageFailure);
    const abort = new AbortController();
    const stopped = Readable.from(
      (async function* () {
        yield randomBytes(9 * 1024 * 1024);
        abort.abort();
        yield randomBytes(9 * 1024 * 1024);
      })(),
    );
    const error = await failureOf(
      storage.putStream('files/stopped', stopped, { ...octets, signal: abort.signal }),
    );
    expect(error).toMatchObject({ code: 'ABORTED' });
    expect(await storage.head('files/broken')).toBeUndefined();
    expect(await storage.head('files/stopped')).toBeUndefined();
  });

  test('what is not there is told apart from what cannot be had', async () => {
    expect(await storage.head('files/none')).toBeUndefined();
    expect(await failureOf(storage.getBytes('files/none', 10))).toMatchObject({
      code: 'NOT_FOUND',
      retryable: false,
    });
    await storage.delete('files/none');
    const elsewhere = ObjectStorage.connect(settings({ endpoint: 'http://127.0.0.1:1' }));
    expect(await failureOf(elsewhere.getBytes('x', 10))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
    expect(await elsewhere.reachable()).toBe(false);
    elsewhere.close();
  });

  test('a wrong secret is refused', async () => {
    const { bucket } = storage;
    const stranger = ObjectStorage.connect(
      settings({ bucket, secretAccessKey: 'wrong-secret-wrong-secret' }),
    );
    const error = await failureOf(stranger.getBytes('plans/a.json', 100));
    expect(error).toMatchObject({ code: 'REFUSED', retryable: false });
    stranger.close();
  });

  test('a prefix is listed and deleted without its neighbours', async () => {
    for (const key of ['jobs/1/source', 'jobs/1/plan.json', 'jobs/10/source']) {
      await storage.putBytes(key, Buffer.from('x'), octets);
    }
    expect((await keysUnder('jobs/1/')).toSorted()).toEqual(['jobs/1/plan.json', 'jobs/1/source']);
    expect(await storage.deletePrefix('jobs/1/')).toBe(2);
    expect(await keysUnder('jobs/')).toEqual(['jobs/10/source']);
  });
});

describe('a presigned URL', () => {
  test('downloads under a good name without credentials, also in ranges', async () => {
    await storage.putBytes('results/clip.mp4', Buffer.from('0123456789'), { contentType: 'video/mp4' });
    const url = await storage.presignedGet({
      key: 'results/clip.mp4',
      expiresInSeconds: 604_800,
      fileName: 'My clip.mp4',
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('0123456789');
    expect(answer.headers.get('content-disposition')).toContain('filename="My clip.mp4"');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('604800');
    const range = await fetch(url, { headers: { range: 'bytes=2-4' } });
    expect([range.status, await range.text()]).toEqual([206, '234']);
  });

  test('does not open another key, nor live longer, when it is changed', async () => {
    await storage.putBytes('results/other.mp4', Buffer.from('secret'), { contentType: 'video/mp4' });
    const url = await storage.presignedGet({
      key: 'results/clip.mp4',
      expiresInSeconds: 60,
      fileName: 'a.mp4',
    });
    const changed = [
      url.replace('clip.mp4', 'other.mp4'),
      url.replace('X-Amz-Expires=60', 'X-Amz-Expires=6000'),
    ];
    for (const forged of changed) expect((await fetch(forged)).status).toBe(403);
  });

  test('names the public address where there is one', async () => {
    const outside = ObjectStorage.connect(settings({ publicEndpoint: 'https://files.example.com' }));
    const url = await outside.presignedGet({
      key: 'results/clip.mp4',
      expiresInSeconds: 60,
      fileName: 'a.mp4',
    });
    expect(new URL(url).host).toBe('files.example.com');
    outside.close();
  });
});

describe('retention', () => {
  test('what the server does not expire by itself is swept', async () => {
    expect(typeof (await ensureLifecycleRules(storage))).toBe('boolean');
    await storage.putBytes('jobs/7/source', Buffer.from('x'), octets);
    await storage.putBytes('results/7/1.mp4', Buffer.from('x'), octets);
    const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);
    expect(await sweepExpired(storage, inDays(1))).toBe(0);
    await sweepExpired(storage, inDays(4));
    expect(await keysUnder('jobs/')).toEqual([]);
    expect(await keysUnder('results/7/')).toEqual(['results/7/1.mp4']);
    await sweepExpired(storage, inDays(38));
    expect(await keysUnder('results/')).toEqual([]);
  });
});
