import { execFile } from 'node:child_process';
import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { mediaFolder } from '#test/integration/media/task-folder.ts';
import { hearMix } from '#test/quality/sound-quality.ts';
import { checkMusic } from '#workers/clip/sound/check-music.ts';
import { fetchMusic } from '#workers/clip/sound/fetch-music.ts';

const run = promisify(execFile);
const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
let folder: string;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sound-'));
  const make = (filters: string, name: string, ...options: string[]) =>
    run(tools.ffmpegPath, ['-v', 'error', '-f', 'lavfi', '-i', filters, ...options, file(name)]);
  // Noise in bursts stands for speech: loud and silent by turns, with nothing in common with the music's tones.
  await make("anoisesrc=c=pink:r=48000:a=0.2:d=6:seed=7,volume='lt(mod(t,1.5),1)':eval=frame", 'speech.wav');
  await make('aevalsrc=0.4*sin(2*PI*220*t)+0.3*sin(2*PI*554*t):s=44100:d=2.5', 'music.mp3');
  await make('aevalsrc=0.2*sin(2*PI*330*t):s=48000:d=1', 'music.aac');
  await make('aevalsrc=0.2*sin(2*PI*330*t):s=48000:d=1', 'music.m4a', '-f', 'ipod');
  await make('aevalsrc=0.2*sin(2*PI*330*t):s=48000:d=1', 'music.wav');
  await make('color=black:s=64x64:d=1', 'picture.mp4');
  await writeFile(file('list.mp3'), '#EXTM3U\nfile:///etc/passwd\n');
  await writeFile(file('page.mp3'), '<!doctype html><title>A song</title>');
  await writeFile(file('empty.mp3'), '');
  await writeFile(file('header.mp3'), Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(500)]));
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** A folder of its own, as each task has. */
async function inTask<T>(work: (context: Parameters<typeof checkMusic>[1]) => Promise<T>): Promise<T> {
  const taskFolder = await mkdtemp(join(folder, 'task-'));
  return work({ tools, taskFolder, signal: new AbortController().signal });
}

describe('the mix', { timeout: 60_000 }, () => {
  test('is at −14 LUFS with peaks under −1 dBTP, the music at 30% of its level, looped to the end', async () => {
    const trial = { source: file('speech.wav'), music: file('music.mp3'), seconds: 6 };
    const heard = await inTask((context) => hearMix(trial, context));
    expect(heard.lufs).toBeGreaterThan(-15);
    expect(heard.lufs).toBeLessThan(-13);
    expect(heard.truePeakDbfs).toBeLessThanOrEqual(-1);
    expect(heard.musicShare).toBeGreaterThan(0.27);
    expect(heard.musicShare).toBeLessThan(0.33);
  });

  test('without sound in the source is the music alone, at 30% of its level', async () => {
    const trial = { source: null, music: file('music.mp3'), seconds: 5 };
    const heard = await inTask((context) => hearMix(trial, context));
    expect(heard.musicShare).toBeGreaterThan(0.29);
    expect(heard.musicShare).toBeLessThan(0.31);
  });
});

describe('music', () => {
  test.each([
    ['music.mp3', 'audio/mpeg'],
    ['music.wav', 'audio/wav'],
    ['music.aac', 'audio/aac'],
    ['music.m4a', 'audio/mp4'],
  ])('%s is taken', async (name, contentType) => {
    const checked = await inTask((context) => checkMusic(file(name), context));
    expect(checked.type.contentType).toBe(contentType);
  });

  test.each([
    ['list.mp3', /playlist.*MP3, WAV or AAC/],
    ['page.mp3', /web page/],
    ['picture.mp4', /video file/],
    ['empty.mp3', /not an audio file/],
    ['header.mp3', /damaged/],
  ])('%s fails for good, with one clear sentence about the music', async (name, sentence) => {
    await expect(refusal(file(name))).resolves.toMatchObject({
      code: 'MUSIC_UNUSABLE',
      retryable: false,
      message: expect.stringMatching(sentence) as string,
    });
  });

  test('of a folder of hostile files is played or refused', { timeout: 60_000 }, async (context) => {
    if (mediaFolder === undefined) return context.skip();
    for (const name of [
      'file-type__fixture-bad-offset.mp3',
      'media__long_edit_list_audioonly.mp4',
      'media__sample_with_odd_metadata_chunk_size.wav',
      'hls_local_file.m3u8',
      'audio_only.mp4',
      'random_noise.mp4',
    ]) {
      const path = join(mediaFolder, 'hostile', name);
      if (!existsSync(path)) continue;
      const outcome = await refusal(path);
      if (outcome !== undefined) expect(outcome, name).toMatchObject({ code: 'MUSIC_UNUSABLE' });
    }
  });
});

describe('fetching music', () => {
  let server: Server;
  let origin: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const name = request.url?.slice(1) ?? '';
      if (!existsSync(file(name)) || name === '') return void response.writeHead(404).end();
      createReadStream(file(name)).pipe(response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((closed) => server.close(closed)));

  const fetching = (name: string, allow: readonly string[], maxBytes = 1_000_000) =>
    inTask((context) =>
      fetchMusic({ url: `http://${origin}/${name}`, maxBytes, timeoutMs: 20_000 }, context, allow).then(
        (music) => music.type.contentType,
        (error: unknown) => (error instanceof MediaFailure ? error : Promise.reject(error)),
      ),
    );

  test('by its URL, within the egress guard and its limits', async () => {
    expect(await fetching('music.mp3', [origin])).toBe('audio/mpeg');
    expect(await fetching('music.mp3', [])).toMatchObject({ code: 'SOURCE_FORBIDDEN' });
    expect(await fetching('music.wav', [origin], 1_000)).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
    expect(await fetching('none.mp3', [origin])).toMatchObject({
      code: 'SOURCE_NOT_FOUND',
      message: expect.stringMatching(/music/) as string,
    });
    expect(await fetching('list.mp3', [origin])).toMatchObject({ code: 'MUSIC_UNUSABLE' });
  });
});

/** Why a file is refused; undefined where it can be played. */
async function refusal(path: string): Promise<MediaFailure | undefined> {
  return inTask((context) =>
    checkMusic(path, context).then(
      () => undefined,
      (error: unknown) => (error instanceof MediaFailure ? error : Promise.reject(error)),
    ),
  );
}
