import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { type ClipPlan, type PlanOptions, planVersion } from '#workers/clip/contract.ts';
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
  camera_mode: 'center-crop',
  words_captioned: 0,
  damaged_frames: 0,
};

const musicType = { kind: 'audio', contentType: 'audio/mpeg', demuxer: 'mp3' } as const;

/** What a pipeline was asked for, for tests that count. */
export type Calls = { fetched: number; music: number; analysed: number; planned: number; rendered: number };

/** A pipeline that does no media work but keeps the contract: for tests of the runtime around it. */
export function scriptedPipeline(script: Script): { pipeline: ClipPipeline; calls: Calls } {
  const calls: Calls = { fetched: 0, music: 0, analysed: 0, planned: 0, rendered: 0 };
  const missing = new Set(script.missing ?? []);
  const pipeline: ClipPipeline = {
    fetchSource: async ({ url }, { taskFolder }) => {
      calls.fetched += 1;
      const path = join(taskFolder, 'source');
      await writeFile(path, `the source at ${url}`);
      return { path, contentType: 'video/mp4', title: null };
    },
    fetchMusic: async ({ url }, { taskFolder }) => {
      calls.music += 1;
      const path = join(taskFolder, 'music');
      await writeFile(path, `the music at ${url}`);
      return { path, type: musicType };
    },
    checkMusic: async (path) => ({ path, type: musicType }),
    analyseVideo: async () => {
      calls.analysed += 1;
      return scriptedAnalysis;
    },
    planClips: async ({ options }) => {
      calls.planned += 1;
      return scriptedPlan(options, missing);
    },
    renderClip: async ({ plan, item, musicPath }, { taskFolder, signal, onProgress }) => {
      calls.rendered += 1;
      script.onRender?.(item);
      onProgress({ stage: 'rendering', fraction: 0 });
      await delay(script.renderMs, undefined, { signal }).catch(() => {
        throw new MediaFailure('ABORTED', 'The work was stopped.');
      });
      const path = join(taskFolder, 'clip.mp4');
      const contactSheetPath = join(taskFolder, 'clip.png');
      const sourceSheetPath = join(taskFolder, 'clip.source.png');
      const music = musicPath === null ? '' : ` with ${await readFile(musicPath, 'utf8')}`;
      await writeFile(path, `clip ${item} of ${plan.clips.length}${music}`);
      await writeFile(contactSheetPath, 'frames');
      await writeFile(sourceSheetPath, 'frames of the source');
      const { size } = await stat(path);
      const picture = { width: 1080, height: 1920, durationMs: 1_000 };
      return { item, path, bytes: size, ...picture, contactSheetPath, sourceSheetPath, report };
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
    bar_areas: [],
    insets: [],
  },
  sound: null,
};

function scriptedPlan(options: PlanOptions, missing: ReadonlySet<number>): ClipPlan {
  const items = Array.from({ length: options.num_clips }, (_, item) => item);
  const music = options.music_url !== null || options.music_object_key !== null;
  return {
    version: planVersion,
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
        hook: null,
        camera: { mode: 'center-crop', scenes: [], notes: [] },
        heading_overlay: null,
        captions: null,
        music,
        score: { total: 1, parts: {} },
        black_ms: 0,
        faces: [],
        notes: [],
      })),
    missing: [...missing].map((item) => ({ item, reason: 'The video is too short for another clip.' })),
  };
}
