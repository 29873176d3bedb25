import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools, type MediaTools } from '#infra/media/media-tools.ts';
import { videoDuration } from '#infra/media/video-duration.ts';
import { lyingCopy, makeVideo } from './lying-videos.ts';

let folder: string;
let tools: MediaTools;

const containers = ['mp4', 'mov', 'mkv', 'webm', 'avi'];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'video-duration-'));
  tools = await locateMediaTools({}, process.env['PATH'] ?? '');
  await Promise.all(containers.map((container) => makeVideo(join(folder, `true.${container}`), 12)));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const durationOf = (name: string) =>
  videoDuration(join(folder, name), { tools, taskFolder: folder, signal: new AbortController().signal });

describe.each(containers)('the duration of a video in %s', (container) => {
  test('is what its headers say when that is true', async () => {
    expect(await durationOf(`true.${container}`)).toBe(12_000);
  });

  test.each([1, 9, 50])('is that of its packets when its headers say %i s', async (claimedSeconds) => {
    const name = `says-${claimedSeconds}.${container}`;
    await lyingCopy(join(folder, `true.${container}`), join(folder, name), claimedSeconds);
    const durationMs = await durationOf(name);
    expect(durationMs).toBeGreaterThanOrEqual(12_000);
    expect(durationMs).toBeLessThanOrEqual(12_100);
  });
});

test('is told to the millisecond', async () => {
  await makeVideo(join(folder, 'fine.mp4'), 9.03, { rate: 100 });
  expect(await durationOf('fine.mp4')).toBe(9_030);
});
