import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { CameraLayout } from '#workers/clip/camera/camera-plan.ts';
import type { PipelineContext, RenderedClip } from '#workers/clip/contract.ts';
import { analyseVideo, renderClip } from '#workers/clip/pipeline.ts';
import { firstClip, inTaskFolder, plan, sample } from './task-folder.ts';

/** What ffmpeg writes to its standard output. The inputs are the test's own. */
async function ffmpeg({ tools, signal }: PipelineContext, args: readonly string[]): Promise<Buffer> {
  const { stdout } = await promisify(execFile)(tools.ffmpegPath, ['-v', 'error', '-nostdin', ...args], {
    signal,
    timeout: 60_000,
    encoding: 'buffer',
    maxBuffer: 64 * 1024 ** 2,
  });
  return stdout;
}

/** A frame of a clip as RGB, for looking at its pixels. */
function frameOf(clip: RenderedClip, atSeconds: number, context: PipelineContext): Promise<Buffer> {
  const at = ['-ss', String(atSeconds), '-i', clip.path];
  return ffmpeg(context, [...at, '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', 'pipe:1']);
}

/** The sound of a clip as 8 kHz mono samples. */
async function soundOf(path: string, context: PipelineContext): Promise<Int16Array> {
  const sound = ['-vn', '-ac', '1', '-ar', '8000', '-f', 's16le', 'pipe:1'];
  const bytes = await ffmpeg(context, ['-i', path, ...sound]);
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
}

async function makeVideo(context: PipelineContext, name: string, args: readonly string[]): Promise<string> {
  const path = join(context.taskFolder, name);
  await ffmpeg(context, [...args, path]);
  return path;
}

describe('planning the sample', () => {
  test('finds its speech and its cuts, and bounds clips by pauses', async () => {
    await inTaskFolder(async (context) => {
      const planned = await plan(sample, context, { count: 2, lengthSeconds: 12 });
      expect(planned.source.speech_ms).toBeGreaterThan(18_000);
      expect(planned.source.shot_count).toBe(5);
      expect(planned.clips).toHaveLength(2);
      expect(planned.missing).toEqual([]);
      for (const clip of planned.clips) {
        const [cut] = clip.cuts;
        expect((cut?.end_ms ?? 0) - (cut?.start_ms ?? 0)).toBeGreaterThanOrEqual(9_600);
        expect(clip.score.total).toBeGreaterThan(0);
        expect(clip.title).toMatch(/\p{L}/u);
        expect(clip.heading_overlay).toMatchObject({ text: clip.heading, style: 'stroke', position: 'top' });
        expect(clip).toMatchObject({ captions: null, music: false, camera: { mode: 'standard' } });
        expect(clip.faces).toHaveLength(12);
      }
    });
  });

  test('is the same every time, and is plain JSON', async () => {
    const [first, second] = await Promise.all([
      inTaskFolder((context) => plan(sample, context)),
      inTaskFolder((context) => plan(sample, context)),
    ]);
    expect(first).toEqual(second);
    expect(JSON.parse(JSON.stringify(first))).toEqual(first);
  });

  test('more clips than it holds are missing with a reason, not invented', async () => {
    await inTaskFolder(async (context) => {
      const planned = await plan(sample, context, { count: 10 });
      expect(planned.clips.length + planned.missing.length).toBe(10);
      expect(planned.missing.length).toBeGreaterThan(5);
      expect(planned.missing.map((missing) => missing.item)).toEqual(
        planned.missing.map((_, index) => planned.clips.length + index),
      );
      expect(planned.missing[0]?.reason).toMatch(/10 were asked for/);
    });
  });
});

const heading = {
  ...{ text: null, style: 'stroke', color: 'white', font: 'Montserrat' },
  ...{ position: 'top', bg_color: 'black', instructions: null },
};

describe('rendering', { timeout: 240_000 }, () => {
  test('everything that can be asked for, in one clip that passes every check', async () => {
    await inTaskFolder(async (context, progress) => {
      const musicPath = await makeVideo(context, 'song.wav', ['-f', 'lavfi', '-i', 'sine=f=220:d=4']);
      const options = {
        hook_length_seconds: 3,
        heading: { ...heading, style: 'instagram', position: 'bottom', text: 'Look {\\b1} <up> & back 😀' },
        captions: { enabled: true, color: 'yellow', font: 'Anton' },
      };
      const wish = { lengthSeconds: 10, cameraMode: 'speaker-zoom', options, musicPath };
      const clip = await firstClip(sample, context, wish);
      expect(clip).toMatchObject({ width: 1080, height: 1920 });
      expect(clip.durationMs).toBeGreaterThan(8_000);
      expect(clip.report).toMatchObject({ camera_mode: 'speaker-zoom', damaged_frames: 0, black_ms: 0 });
      expect(clip.report.words_captioned).toBeGreaterThan(10);
      expect(clip.report.loudness_lufs).toBeGreaterThan(-15);
      expect(clip.report.loudness_lufs).toBeLessThan(-13);
      expect(clip.report.true_peak_dbfs).toBeLessThanOrEqual(-1);
      expect(Math.abs(clip.report.audio_minus_video_ms)).toBeLessThanOrEqual(40);
      const sheet = await sharp(clip.contactSheetPath).metadata();
      expect(sheet).toMatchObject({ format: 'png', width: 6 + 6 * (202 + 6), height: 6 + 2 * (360 + 6) });
      const sourceSheet = await sharp(clip.sourceSheetPath).metadata();
      expect(sourceSheet).toMatchObject({ width: 6 + 4 * (640 + 6), height: 6 + 3 * (360 + 6) });
      const rendering = progress.filter((step) => step.stage === 'rendering').map((step) => step.fraction);
      expect(rendering).toEqual(rendering.toSorted((a, b) => a - b));
      expect(rendering.at(-1)).toBeGreaterThan(0.9);
      // What stays in the folder until it is removed is no more than the clip, its sheets and what was drawn.
      const files = (await readdir(context.taskFolder)).filter((name) => name.endsWith('.rgb'));
      expect(files).toEqual([]);
    });
  });

  test('standard keeps the whole picture in the middle, over a darker one', async () => {
    await inTaskFolder(async (context) => {
      const bars = 'smptebars=s=1280x720:r=25:d=3';
      const source = await makeVideo(context, 'bars.mp4', ['-f', 'lavfi', '-i', bars, '-pix_fmt', 'yuv420p']);
      const clip = await firstClip(source, context, { options: { auto_heading: false } });
      const frame = await frameOf(clip, 1, context);
      const pixel = (x: number, y: number) => [...frame.subarray((y * 1080 + x) * 3, (y * 1080 + x) * 3 + 3)];
      // The test card's first bar is grey at 75%, its last upper one blue: both ends are there.
      expect(pixel(40, 800).every((value) => Math.abs(value - 191) < 14)).toBe(true);
      const [red = 255, green = 255, blue = 0] = pixel(1040, 800);
      expect(blue).toBeGreaterThan(170);
      expect(Math.max(red, green)).toBeLessThan(40);
      const brightness = (y: number) => pixel(540, y).reduce((sum, value) => sum + value, 0);
      expect(brightness(400)).toBeGreaterThan(40);
      expect(brightness(400)).toBeLessThan(pixel(540, 700).reduce((sum, value) => sum + value, 0));
    });
  });

  test('sound and picture stay together, also after a teaser: a flash and its beep lie within 40 ms', async () => {
    await inTaskFolder(async (context) => {
      const flash = "drawbox=c=white:t=fill:enable='between(mod(t,2),1,1.2)'";
      const beep = "sine=f=1000:r=48000:d=30,volume='if(between(mod(t,2),1,1.2),1,0)':eval=frame";
      const source = await makeVideo(context, 'clap.mp4', [
        ...['-f', 'lavfi', '-i', `color=c=0x303030:s=640x360:r=30:d=30,${flash}`, '-f', 'lavfi', '-i', beep],
        ...['-pix_fmt', 'yuv420p', '-g', '250', '-shortest'],
      ]);
      const planned = await plan(source, context, { lengthSeconds: 10, options: { auto_heading: false } });
      const cuts = [
        { start_ms: 13_300, end_ms: 14_720 },
        { start_ms: 7_370, end_ms: 12_120 },
      ];
      const moved = planned.clips.map((clip) => {
        const scenes = cuts.map((cut) => ({ ...cut, layout: clip.camera.scenes[0]?.layout as CameraLayout }));
        return { ...clip, cuts, camera: { ...clip.camera, scenes } };
      });
      const clip = await renderClip(
        { sourcePath: source, plan: { ...planned, clips: moved }, item: 0, musicPath: null },
        context,
      );
      const sound = await soundOf(clip.path, context);
      const beepAtMs = sound.findIndex((sample) => Math.abs(sample) > 3_000) / 8;
      const expectedMs = 1_420 + 9_000 - 7_370;
      expect(Math.abs(beepAtMs - expectedMs)).toBeLessThan(40);
      const [before, after] = [
        await frameOf(clip, (expectedMs - 50) / 1000, context),
        await frameOf(clip, (expectedMs + 50) / 1000, context),
      ];
      const middle = (960 * 1080 + 540) * 3;
      expect(before[middle]).toBeLessThan(80);
      expect(after[middle]).toBeGreaterThan(200);
    });
  });

  test('a clip without sound gets silence, one of silence is not amplified', async () => {
    await inTaskFolder(async (context) => {
      const picture = 'testsrc2=s=640x360:r=25:d=4';
      const mute = await makeVideo(context, 'mute.mp4', [
        '-f',
        'lavfi',
        '-i',
        picture,
        '-pix_fmt',
        'yuv420p',
      ]);
      const clip = await firstClip(mute, context);
      expect(clip.report).toMatchObject({ loudness_lufs: null, loudness_normalised: false });
      expect((await soundOf(clip.path, context)).every((sample) => Math.abs(sample) < 8)).toBe(true);
    });
  });

  test('aborting ends the analysis with a failure that may be retried', async () => {
    const abort = new AbortController();
    const error = await inTaskFolder(async (context) => {
      const stopping = { ...context, onProgress: () => abort.abort() };
      return analyseVideo(sample, { ...stopping, signal: abort.signal }).catch((thrown: unknown) => thrown);
    }, abort.signal);
    expect(error).toBeInstanceOf(MediaFailure);
    expect(error).toMatchObject({ code: 'ABORTED', retryable: true });
  });
});
