import { stat } from 'node:fs/promises';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfprobe } from '#infra/media/run-ffmpeg.ts';
import type { SegmentReport, StageTimes, SwapContext, SwapPlan, SwappedVideo } from './contract.ts';
import { isAudioCopied } from './video/encode-command.ts';

type Made = {
  readonly videoPath: string;
  readonly plan: SwapPlan;
  readonly mode: 'face' | 'fullbody';
  readonly segments: readonly SegmentReport[];
  readonly times: StageTimes;
  readonly outputPath: string;
  readonly sheetPath: string;
};

const startMs = 180_000;
/** A 4K frame on a busy core takes a second; one of 720p a tenth of it. */
const msPerMegapixel = 200;
const checkMs = 60_000;

/** How long work on so many frames of a plan may take. */
export function frameWallMs(frames: number, { width, height }: SwapPlan): number {
  return Math.round(startMs + frames * Math.max(0.5, (width * height) / 1e6) * msPerMegapixel);
}

/** Looks at the finished file before anybody gets it: every frame is there, in the right size. Throws `MediaFailure`. */
export async function finishedVideo(made: Made, context: SwapContext): Promise<SwappedVideo> {
  const { plan, outputPath, segments } = made;
  context.onProgress({ stage: 'checking', fraction: 0 });
  const [source, result] = await Promise.all([probe(made.videoPath, context), probe(outputPath, context)]);
  const { video } = result;
  const frames = await countFrames(outputPath, context);
  if (
    video === null ||
    frames !== plan.frame_count ||
    video.width !== plan.width ||
    video.height !== plan.height
  ) {
    throw new MediaFailure('RESULT_WRONG', 'The swapped video did not come out whole.', {
      detail: `${frames} of ${plan.frame_count} frames, ${video?.width}x${video?.height}`,
    });
  }
  if ((source.audio === null) !== (result.audio === null)) {
    throw new MediaFailure('RESULT_WRONG', 'The swapped video lost its sound.');
  }
  const sum = (of: (segment: SegmentReport) => number): number =>
    segments.reduce((total, each) => total + of(each), 0);
  const swapped = sum(({ frames_swapped }) => frames_swapped);
  if (swapped === 0) {
    throw new MediaFailure(
      'NO_FACE',
      'The face in the video could not be followed well enough to be swapped.',
    );
  }
  context.onProgress({ stage: 'checking', fraction: 1 });
  return {
    path: outputPath,
    bytes: (await stat(outputPath)).size,
    width: video.width,
    height: video.height,
    durationMs: video.durationMs ?? result.durationMs ?? 0,
    contactSheetPath: made.sheetPath,
    report: {
      version: 1,
      engine: context.settings.engine,
      mode: made.mode,
      frame_count: frames,
      frames_swapped: swapped,
      frames_missed: sum(({ frames_missed }) => frames_missed),
      segments,
      times: made.times,
      notes: [
        ...plan.notes,
        ...(isAudioCopied(source)
          ? []
          : ['The sound was converted to AAC: MP4 does not hold the source’s kind.']),
        ...(source.video?.hdr == null ? [] : ['The HDR picture was converted to standard range.']),
      ],
    },
  };
}

async function countFrames(path: string, context: SwapContext): Promise<number> {
  const pieces: Buffer[] = [];
  await runFfprobe({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: checkMs,
    args: [
      ...['-v', 'error', '-of', 'csv=p=0', '-select_streams', 'v:0', '-count_packets'],
      ...['-show_entries', 'stream=nb_read_packets'],
      ...guardedInputOptions({ kind: 'video', contentType: 'video/mp4', demuxer: 'mov' }),
      ...['-i', inputUrl(path)],
    ],
    onStdout: (piece) => pieces.push(piece),
  });
  return Number.parseInt(Buffer.concat(pieces).toString('latin1'), 10);
}
