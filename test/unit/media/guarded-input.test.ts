import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools, type MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import { withAlias } from './quicktime-alias.ts';

/** Material that would lead ffmpeg to another file of this machine. */

const run = promisify(execFile);
const { signal } = new AbortController();

let folder: string;
let tools: MediaTools;
/** What nobody else's video may show. */
let secret: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guarded-'));
  tools = await locateMediaTools({}, process.env['PATH'] ?? '');
  secret = join(folder, 'secret.mov');
  await makeVideo(secret);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function makeVideo(path: string): Promise<void> {
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5:d=1', '-c:v', 'mpeg4', '-g', '1'];
  await run(tools.ffmpegPath, ['-v', 'error', ...picture, '-f', 'mov', path]);
}

/** The first frame that ffmpeg decodes of a file with these options before it, or undefined where it fails. */
async function firstFrame(path: string, options: readonly string[]): Promise<string | undefined> {
  const args = ['-v', 'error', ...options, '-i', `file:${path}`];
  const frame = await run(tools.ffmpegPath, [...args, '-frames:v', '1', '-f', 'framemd5', '-']).catch(
    () => undefined,
  );
  return frame?.stdout.split('\n').findLast((line) => /^0,/.test(line));
}

describe('a QuickTime file whose media lie in another file', () => {
  let alias: string;

  beforeAll(async () => {
    const own = join(folder, 'own.mov');
    await makeVideo(own);
    alias = join(folder, 'alias.mov');
    await writeFile(alias, withAlias(await readFile(own), secret));
  });

  test('is one that ffmpeg would follow if it were told to', async () => {
    const lax = ['-enable_drefs', '1', '-use_absolute_path', '1', '-protocol_whitelist', 'file'];
    const shown = await firstFrame(alias, lax);
    expect(shown).toMatch(/^0,/);
    expect(shown).toBe(await firstFrame(secret, []));
  });

  test('is not followed', async () => {
    const type = await sniffFile(alias);
    // Its own media were blanked: what it shows now can only have come from elsewhere.
    expect(await firstFrame(alias, guardedInputOptions(type))).toBeUndefined();
  });
});

test.each([
  ['an HLS list', (path: string) => `#EXTM3U\n#EXTINF:1,\nfile://${path}\n#EXT-X-ENDLIST\n`],
  ['a concat list', (path: string) => `ffconcat version 1.0\nfile '${path}'\n`],
  ['a DASH manifest', (path: string) => `<?xml version="1.0"?><MPD><BaseURL>file://${path}</BaseURL></MPD>`],
])('%s is opened by nothing, whatever its name', async (_, text) => {
  const list = join(folder, 'list.mp4');
  await writeFile(list, text(secret));
  const context = { tools, taskFolder: folder, signal };
  await expect(probe(list, context)).rejects.toMatchObject({ code: 'NOT_A_VIDEO' });
});

test('an input without its guards is refused as a fault of ours', async () => {
  const args = ['-i', inputUrl(secret), '-f', 'null', '-'];
  await expect(runFfmpeg({ tools, cwd: folder, signal, args, wallMs: 10_000 })).rejects.toThrow(
    '1 inputs, but 0 guards',
  );
});
