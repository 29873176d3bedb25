import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ClipPlan } from '#workers/clip/contract.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import type { ClipPipeline } from '#workers/runtime/job-parts.ts';

export type Script = Readonly<{
  renderMs: number;
  /** Called before each render; what it throws is the render's failure. */
  onRender?: (item: number) => void;
  /** Items that the source does not give. */
  missing?: readonly number[];
}>;

const report = {
  frames_per_second: 25,
  loudness_lufs: -14,
  true_peak_dbfs: -1,
  black_ms: 0,
  audio_minus_video_ms: 0,
  loudness_normalised: true,
};

/** What a pipeline was asked for, for tests that count. */
export type Calls = { fetched: number; analysed: number; planned: number; rendered: number };

/** A pipeline that does no media work but keeps the contract: for tests of the runtime around it. */
export function scriptedPipeline(script: Script): { pipeline: ClipPipeline; calls: Calls } {
  const calls: Calls = { fetched: 0, analysed: 0, planned: 0, rendered: 0 };
  const missing = new Set(script.missing ?? []);
  const pipeline: ClipPipeline = {
    fetchSource: async ({ url }, { taskFolder }) => {
      calls.fetched += 1;
      const path = join(taskFolder, 'source');
      await writeFile(path, `the source at ${url}`);
      return { path, contentType: 'video/mp4', title: null };
    },
    analyseVideo: async () => {
      calls.analysed += 1;
      return scriptedAnalysis;
    },
    planClips: async ({ options }) => {
      calls.planned += 1;
      return scriptedPlan(options.num_clips, missing);
    },
    renderClip: async ({ plan, item }, { taskFolder, signal, onProgress }) => {
      calls.rendered += 1;
      script.onRender?.(item);
      onProgress({ stage: 'rendering', fraction: 0 });
      await delay(script.renderMs, undefined, { signal }).catch(() => {
        throw new MediaFailure('ABORTED', 'The work was stopped.');
      });
      const path = join(taskFolder, 'clip.mp4');
      const contactSheetPath = join(taskFolder, 'clip.png');
      await writeFile(path, `clip ${item} of ${plan.clips.length}`);
      await writeFile(contactSheetPath, 'frames');
      const { size } = await stat(path);
      const picture = { width: 1080, height: 1920, durationMs: 1_000 };
      return { item, path, bytes: size, ...picture, contactSheetPath, report };
    },
  };
  return { pipeline, calls };
}

const scriptedAnalysis: SourceAnalysis = {
  version: 1,
  duration_ms: 60_000,
  frames_per_second: 25,
  display_width: 1920,
  display_height: 1080,
  picture: {
    frames_per_second: 25,
    frame_count: 1_500,
    duration_ms: 60_000,
    frames_per_sample: 3,
    cut_frames: [],
    motion: [],
    black: [],
    face_tracks: [],
  },
  sound: null,
};

function scriptedPlan(clipCount: number, missing: ReadonlySet<number>): ClipPlan {
  const items = Array.from({ length: clipCount }, (_, item) => item);
  return {
    version: 1,
    source: {
      duration_ms: 60_000,
      display_width: 1920,
      display_height: 1080,
      frames_per_second: 25,
      has_audio: true,
      speech_ms: 60_000,
      shot_count: 1,
    },
    clips: items
      .filter((item) => !missing.has(item))
      .map((item) => ({
        item,
        title: `Clip ${item}`,
        heading: null,
        cuts: [{ start_ms: item * 1_000, end_ms: item * 1_000 + 900 }],
        camera_mode: 'center-crop',
        score: { total: 1, parts: {} },
        black_ms: 0,
        notes: [],
      })),
    missing: [...missing].map((item) => ({ item, reason: 'The video is too short for another clip.' })),
  };
}
