import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDemoSource } from '#infra/demo/demo-source.ts';
import { parseRange, serveSourceFile } from '#infra/demo/source-file-server.ts';

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'source-'));
  file = join(folder, 'my talk.mp4');
  await writeFile(file, '0123456789');
});

afterAll(() => rm(folder, { recursive: true }));

test.each([
  [undefined, undefined],
  ['bytes=0-3', { start: 0, end: 3 }],
  ['bytes=4-', { start: 4, end: 9 }],
  ['bytes=4-99', { start: 4, end: 9 }],
  ['bytes=-3', { start: 7, end: 9 }],
  ['bytes=-99', { start: 0, end: 9 }],
  ['bytes=10-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-2', undefined],
  ['bytes=0-1,4-5', undefined],
  ['bytes=-', undefined],
])('the range %s of ten bytes is %j', (header, range) => {
  expect(parseRange(header, 10)).toEqual(range);
});

describe('a served file', () => {
  test('is given whole, in parts, and nothing beside it', async () => {
    const server = await serveSourceFile(file);
    const whole = await fetch(server.url);
    expect(whole.status).toBe(200);
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
    expect(await whole.text()).toBe('0123456789');
    const part = await fetch(server.url, { headers: { range: 'bytes=2-4' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
    expect(await part.text()).toBe('234');
    expect((await fetch(server.url, { headers: { range: 'bytes=10-' } })).status).toBe(416);
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`http://${server.hostAndPort}/etc/passwd`)).status).toBe(404);
    const head = await fetch(server.url, { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe('10');
    await server.close();
  });

  test('is what the demo is given; a URL is taken as it is', async () => {
    const source = await openDemoSource(file);
    expect(source.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/my%20talk\.mp4$/);
    expect(source.egressAllow).toEqual([new URL(source.url).host]);
    await source.close();
    const remote = await openDemoSource('https://example.com/talk.mp4');
    expect(remote).toMatchObject({ url: 'https://example.com/talk.mp4', egressAllow: [] });
  });

  test('that is not there is named', async () => {
    await expect(openDemoSource(join(folder, 'none.mp4'))).rejects.toThrow(
      `there is no file ${folder}/none.mp4`,
    );
    await expect(openDemoSource(folder)).rejects.toThrow('is not a file');
  });
});
