import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type { FormPart } from './client.ts';
import type { ContractSystem } from './contract-system.ts';
import { expectCreated } from './create-clip.ts';
import { expectError, expectInvalid } from './expectations.ts';

const run = promisify(execFile);
const songs = ['song.mp3', 'song.wav', 'song.aac'];

/** Form B of section 4.2: the files of `POST /v1/clip`, before and after the fields. */
export function clipFilesContract(system: () => ContractSystem): void {
  beforeAll(async () => {
    for (const name of songs)
      await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=1', join(system().folder, name)]);
  });
  const send = (...parts: readonly (readonly [string, FormPart])[]) => system().rich.form('/v1/clip', parts);
  const source = async (name: string): Promise<FormPart> => ({
    bytes: await readFile(system().sources.path(name)),
    fileName: name,
  });

  test.concurrent.each(['9.03s.mp4', '12s.mov', '12s.avi', '12s.mkv', '12s.webm'])(
    '%s is a video',
    async (name) => {
      expectCreated(await send(['video', await source(name)], ['num_clips', '2']), 2);
      expectCreated(await send(['num_clips', '3'], ['video', await source(name)]), 3);
    },
  );

  test.concurrent.each(['page.mp4', 'face.jpg', 'face.gif'])('%s is no video: 415', async (name) => {
    const error = expectError(await send(['video', await source(name)]), 415);
    expect(error).toContain('mp4, mov, avi, mkv or webm');
  });

  test.concurrent.each(songs)('%s is music', async (name) => {
    const music = { bytes: await readFile(join(system().folder, name)), fileName: name };
    expectCreated(await send(['video', await source('12s.mov')], ['music', music]), 1);
  });

  test.concurrent('a video is no music: 415', async () => {
    const video = await source('12s.mov');
    const error = expectError(await send(['music', await source('face.jpg')], ['video', video]), 415);
    expect(error).toContain('MP3, WAV or AAC');
  });

  test.concurrent('a file and a URL for the same thing: 400', async () => {
    const url = system().sources.url('12s.mov');
    expectInvalid(await send(['video_url', url], ['video', await source('12s.mov')]), 'video_url', ['video']);
    expectInvalid(await send(['video', await source('12s.mov')], ['video_url', url]), 'video_url', ['video']);
  });

  test.concurrent('a field twice: 400', async () => {
    const video = await source('12s.mov');
    expectInvalid(await send(['num_clips', '1'], ['num_clips', '2'], ['video', video]), 'num_clips', []);
    expectInvalid(await send(['video', video], ['video', video]), 'video', []);
  });

  test.concurrent('an empty file: 400', async () => {
    expectInvalid(await send(['video', await source('empty.mp4')]), 'video', ['empty']);
  });

  test.concurrent('files count by their content under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'two files' };
    const create = async (name: string) =>
      system().rich.form('/v1/clip', [['video', await source(name)]], headers);
    const first = await create('12s.mov');
    expectCreated(first, 1);
    expect((await create('12s.mov')).body).toEqual(first.body);
    expectError(await create('12s.avi'), 422);
    const withMusic = async (name: string) => {
      const music = { bytes: await readFile(join(system().folder, name)), fileName: name };
      const parts = [['video', await source('12s.mov')] as const, ['music', music] as const];
      return system().rich.form('/v1/clip', parts, { 'idempotency-key': 'video and music' });
    };
    const musical = await withMusic('song.mp3');
    expectCreated(musical, 1);
    expect((await withMusic('song.mp3')).body).toEqual(musical.body);
    expectError(await withMusic('song.wav'), 422);
  });
}
