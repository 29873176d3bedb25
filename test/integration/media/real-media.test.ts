import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { RenderedClip } from '#workers/clip/contract.ts';
import { hostileFiles, isWholeRun } from '../hostile/hostile-files.ts';
import { firstClip, inTaskFolder, mediaFolder, plan } from './task-folder.ts';

const folder = mediaFolder ?? '';
const hostile = join(folder, 'hostile');

/** Odd files that play: each must give a clip. */
const playable = [
  'anamorphic_sar_4_3.mp4',
  'audio_longer_than_video.mp4',
  'hdr10_10bit_hevc.mp4',
  'high_fps_240.mp4',
  'late_audio_start.mp4',
  'media__sample_portrait.mp4',
  'media__silent-black-10s.mp4',
  "name with space;$(id)`x`'q'.mp4",
  'rotate_90.mp4',
  'tiny_2x2.mp4',
  'trunc_half.mkv',
  'very_tall_16x4096.mp4',
  'very_wide_4096x16.mp4',
  'vfr.mp4',
  'video_only_no_audio.mp4',
  'yuv444_odd_321x181.mp4',
];

/** Those that each run tries; `npm run hostile` tries all. */
const oftenTried = ['hdr10_10bit_hevc.mp4', 'rotate_90.mp4', 'vfr.mp4'];

/** Every other hostile file: tried by planning alone, which decodes all of it. */
const others = hostileFiles.map(({ name }) => name).filter((name) => !playable.includes(name));

async function clipOrFailure(path: string): Promise<RenderedClip | MediaFailure> {
  return inTaskFolder((context) => firstClip(path, context)).catch((error: unknown) => {
    if (error instanceof MediaFailure) return error;
    throw error;
  });
}

describe.skipIf(mediaFolder === undefined)('media found on this machine', () => {
  test.each(isWholeRun ? playable : oftenTried)(
    '%s gives a checked clip',
    { timeout: 180_000 },
    async (name) => {
      const clip = await clipOrFailure(join(hostile, name));
      expect(clip).toMatchObject({ width: 1080, height: 1920 });
    },
  );

  test.each(others)(
    '%s ends in a plan or one clear sentence, in time',
    { timeout: 120_000 },
    async (name) => {
      const result = await inTaskFolder((context) => plan(join(hostile, name), context)).catch(
        (error: unknown) => error,
      );
      if (result instanceof Error) {
        expect(result).toBeInstanceOf(MediaFailure);
        expect(result.message).toMatch(/^[A-Z][^\n]+\.?$/);
        expect(result.message).not.toContain('/');
        expect(result).toMatchObject({ retryable: false });
      }
    },
  );

  test.each(['hls_named.mp4', 'hls_named.avi', 'concat_named.mp4', 'hls_concat_exfil.m3u8', 'dash_xxe.mpd'])(
    '%s is never opened by ffmpeg',
    async (name) => {
      const result = await clipOrFailure(join(hostile, name));
      expect(result).toMatchObject({ code: 'NOT_A_VIDEO' });
    },
  );

  test('a video whose picture is mostly damaged gives no clip', { timeout: 180_000 }, async () => {
    expect(await clipOrFailure(join(hostile, 'bitflip_mdat.mp4'))).toMatchObject({
      code: 'UNREADABLE',
      message: 'The video is damaged: much of its picture cannot be decoded.',
      retryable: false,
    });
  });

  // Some minutes to analyse: with all the other media, in `npm run hostile`.
  test.runIf(isWholeRun)('a long programme gives distinct clips', { timeout: 600_000 }, async () => {
    await inTaskFolder(async (context) => {
      const planned = await plan(join(folder, 'long/programme_open.mp4'), context, {
        count: 5,
        lengthSeconds: 30,
      });
      expect(planned.clips).toHaveLength(5);
      const cuts = planned.clips.flatMap((clip) => clip.cuts.slice(-1));
      const inOrder = cuts.toSorted((a, b) => a.start_ms - b.start_ms);
      for (const [index, cut] of inOrder.slice(1).entries())
        expect(cut.start_ms).toBeGreaterThanOrEqual(inOrder[index]?.end_ms ?? 0);
    });
  });
});
