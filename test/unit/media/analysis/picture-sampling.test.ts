import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { notedTimes } from '#workers/media/analysis/picture-command.ts';
import { pictureSampling } from '#workers/media/analysis/picture-sampling.ts';
import { rawFrames } from '#workers/media/analysis/raw-frames.ts';

const video = (framesPerSecond: number, displayWidth = 1920, displayHeight = 1080) => ({
  ...{ framesPerSecond, displayWidth, displayHeight },
});

describe('how a picture is looked at', () => {
  test.each([
    [24, 24, 3],
    [25, 25, 3],
    [30_000 / 1001, 30_000 / 1001, 4],
    [60, 60, 8],
    [120, 60, 8],
    [240, 60, 8],
    [1, 1, 1],
  ])('%d frames a second are looked at %d times, for faces every %d', (own, looked, step) => {
    const sampling = pictureSampling(video(own));
    expect(sampling.framesPerSecond).toBeCloseTo(looked, 6);
    expect(sampling.framesPerSample).toBe(step);
  });

  test.each([
    [1920, 1080, 640, 360],
    [1080, 1920, 360, 640],
    [320, 180, 320, 180],
    [4096, 16, 640, 16],
    [2, 2, 16, 16],
    [321, 181, 322, 182],
  ])('%dx%d as %dx%d', (width, height, smallWidth, smallHeight) => {
    expect(pictureSampling(video(25, width, height))).toMatchObject({
      width: smallWidth,
      height: smallHeight,
    });
  });
});

describe('raw frames', () => {
  async function cut(pieces: readonly string[], reuse: 'reuse' | 'fresh'): Promise<string[]> {
    const stream = new PassThrough();
    for (const piece of pieces) stream.write(piece);
    stream.end();
    const frames = [];
    for await (const frame of rawFrames(stream, 4, reuse)) frames.push(Buffer.from(frame).toString());
    return frames;
  }

  test.each(['reuse', 'fresh'] as const)('are cut out of whatever pieces come (%s)', async (reuse) => {
    expect(await cut(['ab', 'cdefghij', 'k', 'l', 'mn'], reuse)).toEqual(['abcd', 'efgh', 'ijkl']);
  });
});

test('noted times are milliseconds', () => {
  const text = 'frame:0 pts:1 pts_time:0.04\nlavfi.black_start=0.04\nframe:9\nlavfi.black_start=12.5\n';
  expect(notedTimes(text)).toEqual([40, 12_500]);
});
