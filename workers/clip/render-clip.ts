import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { progressReader, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { writeContactSheet } from '../media/contact-sheet.ts';
import { checkResult } from './check-result.ts';
import type { PipelineContext, RenderedClip, RenderInput } from './contract.ts';
import { type LoudnessMeasure, parseLoudness } from './loudness.ts';
import { probeVideo } from './plan-clips.ts';
import {
  type CameraMode,
  cameraModes,
  clipHeight,
  clipWidth,
  loudnessArguments,
  type RenderOrder,
  renderArguments,
} from './render-command.ts';

/** 1080x1920 renders at about real time on two shared cores; ten times that is a fault. */
const wallMsPerClipMs = 12;
const startMs = 120_000;

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
  const order = {
    sourcePath: input.sourcePath,
    source,
    cut,
    cameraMode: cameraMode(clip.camera_mode),
    outputPath,
  };
  const loudness = source.audio === null ? null : await measureLoudness(order, context);
  await runRender({ ...order, loudness }, context);
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
    report: { ...checked.report, loudness_normalised: loudness !== null },
  };
}

function cameraMode(name: string): CameraMode {
  const known = cameraModes.find((mode) => mode === name);
  // The API refuses other modes before they are paid for; an old plan may still hold one.
  if (known === undefined)
    throw new MediaFailure('NOT_SUPPORTED', `The camera mode ${name} is not available.`);
  return known;
}

async function measureLoudness(
  order: Omit<RenderOrder, 'loudness' | 'outputPath'>,
  context: PipelineContext,
): Promise<LoudnessMeasure | null> {
  const stderr = await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: wallMs(order),
    args: loudnessArguments(order),
  });
  return parseLoudness(stderr);
}

async function runRender(order: RenderOrder, context: PipelineContext): Promise<void> {
  const durationMs = order.cut.end_ms - order.cut.start_ms;
  context.onProgress({ stage: 'rendering', fraction: 0 });
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: wallMs(order),
    args: renderArguments(order),
    onStdout: progressReader((outMs) => {
      context.onProgress({ stage: 'rendering', fraction: Math.min(1, outMs / durationMs) });
    }),
  });
}

function wallMs(order: Pick<RenderOrder, 'cut'>): number {
  return startMs + (order.cut.end_ms - order.cut.start_ms) * wallMsPerClipMs;
}
