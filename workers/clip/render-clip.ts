import { join } from 'node:path';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { progressReader, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { sniffFile } from '#infra/media/sniff.ts';
import { probeVideo } from './analyse-video.ts';
import { checkResult } from './check-result.ts';
import { playedMs } from './clip-timeline.ts';
import type { PipelineContext, PlannedClip, RenderedClip, RenderInput } from './contract.ts';
import { readDecoderMessages } from './decoder-messages.ts';
import { writeOverlays } from './overlays/write-overlays.ts';
import { measureArguments, renderArguments } from './render-command.ts';
import { clipHeight, clipWidth, type RenderOrder, type Seek } from './render-order.ts';
import { writeClipSheet, writeSourceSheet } from './sheets.ts';
import { type MixMeasure, readMixMeasure, silentMix } from './sound/mix-measure.ts';
import { hasSound } from './sound-graph.ts';

/** 1080x1920 renders at about real time on two cores; a crowded machine may take many times that. */
const wallMsPerClipMs = 30;
const startMs = 180_000;
/** A few damaged frames hardly show; with more than this share of them nobody would post the clip. */
const mostDamaged = 0.25;

/**
 * Renders one clip of a plan into the task's folder, checks it and makes its sheets. The same plan gives the same
 * clip, so a retry may overwrite an earlier result. Throws `MediaFailure`.
 */
export async function renderClip(input: RenderInput, context: PipelineContext): Promise<RenderedClip> {
  const clip = input.plan.clips.find((planned) => planned.item === input.item);
  if (clip === undefined || clip.cuts.length === 0) throw new Error(`clip ${input.item} is not in the plan`);
  const { taskFolder } = context;
  const outputPath = join(taskFolder, `clip-${clip.item}.mp4`);
  const source = await probeVideo(input.sourcePath, context);
  const music = await musicOf(clip, input);
  const overlays = await writeOverlays({ heading: clip.heading_overlay, captions: clip.captions }, context);
  const order = { sourcePath: input.sourcePath, source, clip, overlays, music, outputPath };
  const { measure, damagedFrames } = await renderSeeking(order, context);
  context.onProgress({ stage: 'checking', fraction: 0 });
  const checked = await checkResult(outputPath, clip, context);
  const [contactSheetPath, sourceSheetPath] = await Promise.all([
    writeClipSheet(clip, checked.frames, taskFolder),
    writeSourceSheet(clip, source.video, taskFolder),
  ]);
  context.onProgress({ stage: 'checking', fraction: 1 });
  return {
    item: clip.item,
    path: outputPath,
    bytes: checked.bytes,
    width: clipWidth,
    height: clipHeight,
    durationMs: checked.durationMs,
    contactSheetPath,
    sourceSheetPath,
    report: {
      ...checked.report,
      loudness_normalised: measure.source !== null,
      camera_mode: clip.camera.mode,
      words_captioned: captionedWords(clip),
      damaged_frames: damagedFrames,
    },
  };
}

async function musicOf(clip: PlannedClip, input: RenderInput): Promise<RenderOrder['music']> {
  if (!clip.music) return null;
  if (input.musicPath === null)
    throw new Error(`clip ${clip.item} is planned with music, and none was given`);
  return { path: input.musicPath, type: await sniffFile(input.musicPath) };
}

function captionedWords({ captions }: PlannedClip): number {
  const lines = captions?.pages.flatMap((page) => page.lines) ?? [];
  return lines.reduce((sum, words) => sum + words.length, 0);
}

type UnsoughtOrder = Omit<RenderOrder, 'measure' | 'seek'>;
type Rendering = { readonly measure: MixMeasure; readonly damagedFrames: number };

/** Renders by the file's index and, where ffmpeg could not seek by it, again by decoding from the beginning. */
async function renderSeeking(order: UnsoughtOrder, context: PipelineContext): Promise<Rendering> {
  const rendering =
    (await renderBy('index', order, context)) ?? (await renderBy('decode', order, context, 'as it is'));
  if (rendering === undefined) throw new Error('decoding from the beginning seeks nothing');
  return rendering;
}

/** Undefined where a cut's start could not be found. */
async function renderBy(
  seek: Seek,
  unsought: UnsoughtOrder,
  context: PipelineContext,
  onFailedSeek: 'give up' | 'as it is' = 'give up',
): Promise<Rendering | undefined> {
  const order = { ...unsought, seek };
  const { video } = order.source;
  const messages = readDecoderMessages(video.index);
  const isLost = (): boolean => onFailedSeek === 'give up' && messages.seekFailed();
  const pass = (args: readonly string[], onStdout?: (piece: Buffer) => void): Promise<string> =>
    runFfmpeg({
      tools: context.tools,
      cwd: context.taskFolder,
      signal: context.signal,
      wallMs: wallMs(order),
      args,
      env: order.overlays.environment,
      onStderr: messages.onStderr,
      ...(onStdout === undefined ? {} : { onStdout }),
    });
  if (hasSound(order)) await pass(measureArguments(order));
  if (isLost()) return undefined;
  const measure = hasSound(order) ? await readMixMeasure(context.taskFolder) : silentMix;
  const durationMs = playedMs(order.clip.cuts);
  context.onProgress({ stage: 'rendering', fraction: 0 });
  const onTime = (outMs: number): void =>
    context.onProgress({ stage: 'rendering', fraction: Math.min(1, outMs / durationMs) });
  await pass(renderArguments({ ...order, measure }), progressReader(onTime));
  if (isLost()) return undefined;
  const damagedFrames = messages.damagedFrames();
  refuseDamaged(damagedFrames, (decodedMs(order) / 1000) * video.framesPerSecond);
  return { measure, damagedFrames };
}

function refuseDamaged(damaged: number, decoded: number): void {
  if (damaged <= decoded * mostDamaged) return;
  throw new MediaFailure('UNREADABLE', 'The video is damaged: much of its picture cannot be decoded.', {
    detail: `${damaged} of some ${Math.round(decoded)} frames are damaged`,
  });
}

/** How much of the source is decoded: what lies before a cut too, where there is no seeking. */
function decodedMs({ clip, seek }: Pick<RenderOrder, 'clip' | 'seek'>): number {
  return clip.cuts.reduce(
    (sum, { start_ms, end_ms }) => sum + end_ms - (seek === 'decode' ? 0 : start_ms),
    0,
  );
}

function wallMs(order: Pick<RenderOrder, 'clip' | 'seek'>): number {
  const beforeMs = decodedMs(order) - playedMs(order.clip.cuts);
  return startMs + playedMs(order.clip.cuts) * wallMsPerClipMs + beforeMs;
}
