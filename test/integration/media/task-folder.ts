import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { keptAnalysis } from '#test/quality/kept-analysis.ts';
import type {
  ClipPlan,
  PipelineContext,
  PlanOptions,
  RenderedClip,
  StageProgress,
} from '#workers/clip/contract.ts';
import { analyseVideo, planClips, renderClip } from '#workers/clip/pipeline.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';

const root = resolve(import.meta.dirname, '../../..');

/** The project's own sample: a talking video with four cuts. */
export const sample = join(root, 'infra/sample/talk.mp4');

const folder = process.env['CLIPLEDGER_MEDIA'] ?? resolve(root, '../shared/media');

/** A folder of real and hostile media that some machines have; undefined elsewhere. */
export const mediaFolder = existsSync(folder) ? folder : undefined;

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');

/** Runs work in a task folder of its own, and removes it. */
export async function inTaskFolder<T>(
  work: (context: PipelineContext, progress: readonly StageProgress[]) => Promise<T>,
  signal = new AbortController().signal,
): Promise<T> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'clip-'));
  const progress: StageProgress[] = [];
  const onProgress = (step: StageProgress) => void progress.push(step);
  const context = { tools, taskFolder, signal, onProgress, maxSourceDurationMs: 4 * 3_600_000 };
  try {
    return await work(context, progress);
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}

export type Wish = {
  readonly count?: number;
  readonly lengthSeconds?: number;
  readonly cameraMode?: string;
  /** Whatever else is asked for. */
  readonly options?: Partial<PlanOptions>;
  readonly musicPath?: string;
};

/** A source's analysis; the sample's is kept for all test files, as a job's is for all its clips. */
function analysisOf(sourcePath: string, context: PipelineContext): Promise<SourceAnalysis> {
  return sourcePath === sample ? keptAnalysis(sample) : analyseVideo(sourcePath, context);
}

/** Plans a source's clips. */
export async function plan(sourcePath: string, context: PipelineContext, wish: Wish = {}): Promise<ClipPlan> {
  const options = {
    ...plainClipOptions,
    num_clips: wish.count ?? 1,
    length_seconds: wish.lengthSeconds ?? null,
    camera_mode: wish.cameraMode ?? 'standard',
    music_object_key: wish.musicPath ?? null,
    ...wish.options,
  };
  const analysis = await analysisOf(sourcePath, context);
  const sourceName = { title: null, fileName: sourcePath.split('/').at(-1) ?? '' };
  return planClips({ analysis, sourceName, options }, context);
}

/** Plans and renders the first clip of a source. */
export async function firstClip(
  sourcePath: string,
  context: PipelineContext,
  wish: Wish = {},
): Promise<RenderedClip> {
  const planned = await plan(sourcePath, context, wish);
  return renderClip({ sourcePath, plan: planned, item: 0, musicPath: wish.musicPath ?? null }, context);
}
