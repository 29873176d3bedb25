import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MediaServer, startMediaServer } from '#test/stack/media-server.ts';

describe('the media server', () => {
  let folder: string;
  let server: MediaServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'clipledger-media-'));
    await writeFile(join(folder, 'video'), '0123456789');
    server = await startMediaServer({ containers: null }, { '/video.mp4': join(folder, 'video') });
  });
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  it('serves a file, whole or in ranges', async () => {
    const whole = await fetch(server.url('/video.mp4'));
    expect([whole.status, await whole.text()]).toEqual([200, '0123456789']);
    const part = await fetch(server.url('/video.mp4'), { headers: { range: 'bytes=2-4' } });
    expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
      206,
      '234',
      'bytes 2-4/10',
    ]);
    const rest = await fetch(server.url('/video.mp4'), { headers: { range: 'bytes=8-' } });
    expect(await rest.text()).toBe('89');
  });

  it('answers 404 for anything else, and remembers what was asked for', async () => {
    expect((await fetch(server.url('/missing.mp4?token=1'))).status).toBe(404);
    expect(server.requests).toContain('/missing.mp4');
    expect(server.url('/')).toBe(`http://${server.egressAllow}/`);
  });
});
