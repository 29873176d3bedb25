import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { watchMemory } from '#test/quality/process-memory.ts';
import type { ClipPlan, PipelineContext, PlanOptions } from '#workers/clip/contract.ts';
import { analyseVideo, planClips, renderClip } from '#workers/clip/pipeline.ts';
import { bareRender, prepareBareRender } from './bare-render.ts';

const run = promisify(execFile);
const sample = resolve(import.meta.dirname, '../../infra/sample/talk.mp4');
/** How often the sample is repeated, so that ten clips can be cut from it. */
const repeats = 5;
/** As many renders at a time as a worker does by default. */
const inFlight = 2;

const options: PlanOptions = {
  ...plainClipOptions,
  camera_mode: 'speaker-zoom',
  captions: { enabled: true, color: 'yellow', font: 'Montserrat' },
};

export type ClipsBench = {
  /** Numbers of clips to render, such as 1 and 10. */
  readonly counts: readonly number[];
  readonly lengthSeconds: number;
  /** Another source than the repeated sample. */
  readonly source?: string | undefined;
};

/**
 * Times a job's stages, and its renders beside bare ffmpeg calls that make the same clips: the same arguments with no
 * probing, measuring of sound, check or sheets around them. Both take turns in one run, and both go two at a time.
 */
export async function benchClips({ counts, lengthSeconds, source }: ClipsBench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-clips-'));
  try {
    const path = source === undefined ? await repeatedSample(folder) : resolve(source);
    const context = await benchContext(folder);
    const analysis = await timed(() => analyseVideo(path, context));
    const minutes = analysis.result.duration_ms / 60_000;
    line(`source of ${minutes.toFixed(1)} minutes`, 'seconds', 'a minute', 'peak memory');
    staged('analyse', analysis, minutes);
    for (const count of counts) {
      const wish = { ...options, num_clips: count, length_seconds: lengthSeconds };
      const sourceName = { title: null, fileName: 'talk.mp4' };
      const planning = { analysis: analysis.result, sourceName, options: wish };
      const plan = await timed(() => planClips(planning, context));
      staged(`plan ${count}`, plan, minutes);
      await benchRenders(path, plan.result, { context, minutes });
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchRenders(
  path: string,
  plan: ClipPlan,
  { context, minutes }: { readonly context: PipelineContext; readonly minutes: number },
): Promise<void> {
  const items = plan.clips.map(({ item }) => item);
  const inFolder = async (name: string): Promise<PipelineContext> => {
    const taskFolder = join(context.taskFolder, name);
    await mkdir(taskFolder);
    return { ...context, taskFolder };
  };
  const prepared = await Promise.all(
    items.map(async (item) =>
      prepareBareRender(path, plan, item, await inFolder(`bare-${items.length}-${item}`)),
    ),
  );
  const rendered = await timed(() =>
    side(items, async (item) => {
      const own = await inFolder(`own-${items.length}-${item}`);
      await renderClip({ sourcePath: path, plan, item, musicPath: null }, own);
      await rm(own.taskFolder, { recursive: true });
    }),
  );
  const bare = await timed(() => side(prepared, bareRender));
  const clips = items.length === 1 ? '1 clip' : `${items.length} clips`;
  staged(`render ${clips}`, rendered, minutes);
  staged(`bare ffmpeg, ${clips}`, bare, minutes);
  line(`ratio, ${clips}`, (rendered.seconds / bare.seconds).toFixed(2), '', 'aim: 1.25 or less');
}

/** Does `work` for each, two at a time. */
async function side<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

async function repeatedSample(folder: string): Promise<string> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const path = join(folder, 'repeated.mp4');
  const copying = ['-v', 'error', '-stream_loop', String(repeats - 1), '-i', sample, '-c', 'copy', path];
  await run(ffmpegPath, copying);
  return path;
}

async function benchContext(folder: string): Promise<PipelineContext> {
  return {
    tools: await locateMediaTools({}, process.env['PATH'] ?? ''),
    taskFolder: folder,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    maxSourceDurationMs: 4 * 3_600_000,
  };
}

type Timed<Result> = { readonly result: Result; readonly seconds: number; readonly peakBytes: number };

async function timed<Result>(work: () => Promise<Result>): Promise<Timed<Result>> {
  const memory = watchMemory();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  return { result, seconds, ...memory.stop() };
}

function staged(what: string, { seconds, peakBytes }: Timed<unknown>, minutes: number): void {
  line(what, seconds.toFixed(1), (seconds / minutes).toFixed(1), `${Math.round(peakBytes / 1e6)} MB`);
}

function line(what: string, ...columns: readonly string[]): void {
  console.log(what.padEnd(26) + columns.map((column) => column.padStart(18)).join(''));
}
