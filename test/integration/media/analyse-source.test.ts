import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { analyseVideo } from '#workers/clip/pipeline.ts';
import { type SourceAnalysis, sourceAnalysisSchema } from '#workers/media/analysis/analysis-schema.ts';
import { isWholeRun } from '../hostile/hostile-files.ts';
import { inTaskFolder, mediaFolder, sample } from './task-folder.ts';

const limitMs = 170_000;
const atSeconds = (analysis: SourceAnalysis, frame: number): number =>
  frame / analysis.picture.frames_per_second;

/** Frames in which a face was seen, of those that were searched for faces. */
function seenShare({ picture }: SourceAnalysis): number {
  const seen = new Set(picture.face_tracks.flatMap(({ frames }) => frames));
  return seen.size / Math.ceil(picture.frame_count / picture.frames_per_sample);
}

describe("the project's own sample", () => {
  let analysis: SourceAnalysis;
  const fractions: number[] = [];
  let bytesLeft = 0;

  beforeAll(async () => {
    analysis = await inTaskFolder(async (context, progress) => {
      const result = await analyseVideo(sample, context);
      fractions.push(
        ...progress.filter(({ stage }) => stage === 'analysing').map(({ fraction }) => fraction),
      );
      const names = await readdir(context.taskFolder);
      const files = await Promise.all(names.map((name) => stat(join(context.taskFolder, name))));
      bytesLeft = files.reduce((sum, { size }) => sum + size, 0);
      return result;
    });
  }, limitMs);

  test('leaves nothing large behind in its folder', () => expect(bytesLeft).toBeLessThan(100_000));

  test('is analysed into what its schema says, and small', () => {
    expect(sourceAnalysisSchema.parse(JSON.parse(JSON.stringify(analysis)))).toEqual(analysis);
    expect(JSON.stringify(analysis).length).toBeLessThan(60_000);
    expect(analysis).toMatchObject({ display_width: 1280, display_height: 720, frames_per_second: 30 });
    expect(analysis.duration_ms / 1000).toBeCloseTo(34.07, 1);
  });

  test('has its four cuts to the frame', () => {
    expect(analysis.picture.cut_frames).toHaveLength(4);
  });

  test('shows a face but in the cutaway, one track a shot', () => {
    expect(analysis.picture.face_tracks).toHaveLength(4);
    const cuts = analysis.picture.cut_frames;
    for (const { frames } of analysis.picture.face_tracks) {
      const [first = 0, last = 0] = [frames[0], frames.at(-1)];
      expect(cuts.some((cut) => first < cut && cut <= last)).toBe(false);
    }
  });

  test('is understood, nearly word by word, with times that ascend', () => {
    const words = analysis.sound?.words ?? [];
    const text = words.map((word) => word.text.toLowerCase()).join(' ');
    expect(text).toContain('almost every speck in it is not a star. it is a galaxy');
    expect(text).toContain('ten billion times dimmer than the human eye can see.');
    for (const [index, word] of words.entries()) {
      expect(word.end_ms).toBeGreaterThan(word.start_ms);
      expect(word.start_ms).toBeGreaterThanOrEqual(words[index - 1]?.start_ms ?? 0);
    }
    expect(analysis.sound?.sentence_starts.length).toBeGreaterThan(6);
  });

  test('reports progress that only grows, all of the way', () => {
    expect(fractions.length).toBeGreaterThan(20);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    expect(fractions.at(-1)).toBeGreaterThan(0.95);
  });
});

describe('an analysis that cannot be made', () => {
  test('with models that were altered says so to the operator', { timeout: limitMs }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'models-'));
    try {
      const entry = { file: 'silero_vad_v5.onnx', sha256: '0'.repeat(64), source: 'a shop', licence: 'ours' };
      await writeFile(join(folder, 'MANIFEST.json'), JSON.stringify([entry]));
      await writeFile(join(folder, entry.file), 'no model');
      const error = await inTaskFolder((context) =>
        analyseVideo(sample, { ...context, modelsFolder: folder }).catch((failure: unknown) => failure),
      );
      expect(error).toBeInstanceOf(MediaFailure);
      expect(error).toMatchObject({ code: 'TOOL_BROKEN', retryable: true });
      expect((error as MediaFailure).detail).toContain('silero_vad_v5.onnx was altered');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('is stopped by its caller', { timeout: limitMs }, async () => {
    const abort = new AbortController();
    const error = await inTaskFolder((context) => {
      const stopping = { ...context, onProgress: () => abort.abort() };
      return analyseVideo(sample, stopping).catch((failure: unknown) => failure);
    }, abort.signal);
    expect(error).toMatchObject({ code: 'ABORTED' });
  });
});

describe.skipIf(mediaFolder === undefined)('real videos found on this machine', () => {
  const analysed = (name: string) =>
    inTaskFolder((context) => analyseVideo(join(mediaFolder ?? '', 'video', name), context));

  test.runIf(isWholeRun)(
    'five speakers: a cut each three seconds, a face all the time',
    { timeout: limitMs },
    async () => {
      const analysis = await analysed('talk_grid_5speakers.mp4');
      expect(analysis.picture.cut_frames.map((frame) => atSeconds(analysis, frame))).toEqual([3, 6, 9, 12]);
      expect(seenShare(analysis)).toBeGreaterThan(0.97);
      expect(analysis.picture.face_tracks).toHaveLength(5);
    },
  );

  test('a split screen: two faces, each one track', { timeout: limitMs }, async () => {
    const { picture } = await analysed('podcast_split_2p.mp4');
    expect(picture.cut_frames).toEqual([]);
    expect(picture.face_tracks.map(({ frames }) => frames.length)).toEqual([100, 100]);
    const [one, two] = picture.face_tracks.map(({ eyes_x: eyesX }) => eyesX[50] ?? 0);
    expect(Math.min(one ?? 0, two ?? 0)).toBeLessThan(5_000);
    expect(Math.max(one ?? 0, two ?? 0)).toBeGreaterThan(5_000);
  });

  test('a game with a small face camera: that face, inside its box', { timeout: limitMs }, async () => {
    const { picture } = await analysed('gaming_facecam_generated.mp4');
    expect(picture.face_tracks).toHaveLength(1);
    const [track] = picture.face_tracks;
    expect(track?.frames).toHaveLength(180);
    expect(Math.max(...(track?.right ?? []))).toBeLessThan((340 / 1280) * 10_000);
    expect(Math.min(...(track?.top ?? []))).toBeGreaterThan((460 / 720) * 10_000);
  });

  test.runIf(isWholeRun)('a toy has no face', { timeout: limitMs }, async () => {
    expect((await analysed('noface_toy_rabbit.mp4')).picture.face_tracks).toEqual([]);
  });
});
