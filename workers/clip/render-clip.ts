import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { progressReader, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { writeContactSheet } from '../media/contact-sheet.ts';
import { probeVideo } from './analyse-video.ts';
import { checkResult } from './check-result.ts';
import type { PipelineContext, RenderedClip, RenderInput } from './contract.ts';
import { type Loudness, parseLoudness } from './loudness.ts';
import {
  type CameraMode,
  cameraModes,
  clipHeight,
  clipWidth,
  loudnessArguments,
  type RenderOrder,
  renderArguments,
  type Seek,
} from './render-command.ts';

/** 1080x1920 renders at about real time on two cores; a crowded machine may take many times that. */
const wallMsPerClipMs = 30;
const startMs = 180_000;

/**
 * Renders one clip of a plan into the task's folder, checks it and makes its contact sheet. The same plan gives
 * the same clip, so a retry may overwrite an earlier result. Throws `MediaFailure`.
 */
export async function renderClip(input: RenderInput, context: PipelineContext): Promise<RenderedClip> {
  const clip = input.plan.clips.find((planned) => planned.item === input.item);
  const [cut] = clip?.cuts ?? [];
  if (clip === undefined || cut === undefined) throw new Error(`clip ${input.item} is not in the plan`);
  const outputPath = join(context.taskFolder, `clip-${clip.item}.mp4`);
  const source = await probeVideo(input.sourcePath, context);
  const mode = cameraMode(clip.camera_mode);
  const order = { sourcePath: input.sourcePath, source, cut, cameraMode: mode, outputPath };
  const loudness = await renderSeeking(order, context);
  context.onProgress({ stage: 'checking', fraction: 0 });
  const checked = await checkResult(outputPath, clip, context);
  const contactSheetPath = join(context.taskFolder, `clip-${clip.item}.png`);
  await writeContactSheet({ videoPath: outputPath, pngPath: contactSheetPath }, context);
  context.onProgress({ stage: 'checking', fraction: 1 });
  return {
    item: clip.item,
    path: outputPath,
    bytes: checked.bytes,
    width: clipWidth,
    height: clipHeight,
    durationMs: checked.durationMs,
    contactSheetPath,
    report: { ...checked.report, loudness_normalised: loudness !== 'silent' },
  };
}

function cameraMode(name: string): CameraMode {
  const known = cameraModes.find((mode) => mode === name);
  // The API refuses other modes before they are paid for; an old plan may still hold one.
  if (known === undefined)
    throw new MediaFailure('NOT_SUPPORTED', `The camera mode ${name} is not available.`);
  return known;
}

type UnsoughtOrder = Omit<RenderOrder, 'loudness' | 'seek'>;

/** Renders by the file's index and, where ffmpeg could not seek by it, again by decoding from the beginning. */
async function renderSeeking(order: UnsoughtOrder, context: PipelineContext): Promise<Loudness> {
  const first = await renderBy('index', order, context);
  if (!seekFailed.test(first.stderr)) return first.loudness;
  return (await renderBy('decode', order, context)).loudness;
}

const seekFailed = /could not seek to position/;

async function renderBy(
  seek: Seek,
  order: UnsoughtOrder,
  context: PipelineContext,
): Promise<{ loudness: Loudness; stderr: string }> {
  const sought = { ...order, seek };
  const measured =
    order.source.audio === null ? '' : await runPass(loudnessArguments(sought), sought, context);
  if (seekFailed.test(measured)) return { loudness: 'silent', stderr: measured };
  const loudness = parseLoudness(measured);
  const durationMs = order.cut.end_ms - order.cut.start_ms;
  context.onProgress({ stage: 'rendering', fraction: 0 });
  const onTime = (outMs: number) =>
    context.onProgress({ stage: 'rendering', fraction: Math.min(1, outMs / durationMs) });
  const stderr = await runPass(
    renderArguments({ ...sought, loudness }),
    sought,
    context,
    progressReader(onTime),
  );
  return { loudness, stderr };
}

function runPass(
  args: readonly string[],
  order: Pick<RenderOrder, 'cut' | 'seek'>,
  context: PipelineContext,
  onStdout?: (piece: Buffer) => void,
): Promise<string> {
  const { tools, taskFolder: cwd, signal } = context;
  const run = { tools, cwd, signal, args, wallMs: wallMs(order) };
  return runFfmpeg(onStdout === undefined ? run : { ...run, onStdout });
}

/** Decoding from the beginning also costs what lies before the cut. */
function wallMs(order: Pick<RenderOrder, 'cut' | 'seek'>): number {
  const renderedMs = order.cut.end_ms - order.cut.start_ms;
  return startMs + renderedMs * wallMsPerClipMs + (order.seek === 'decode' ? order.cut.start_ms : 0);
}
