import { MediaFailure } from './media-failure.ts';
import { fileInput, type MediaInput, type ProbeContext, type ProbedVideo, probeInput } from './probe.ts';
import { guardedInputOptions, runFfprobe } from './run-ffmpeg.ts';

const scanLimitMs = 60_000;
/** Seeking goes back to the key frame before, so this need not reach over a whole group of frames. */
const tailSeconds = 2;
/** How far a container's own rounding, to frames or to its clock, may be from its packets. */
const roundingMs = 100;

/**
 * How long a file's video stream plays, in milliseconds: what is billed. Throws `MediaFailure` for what holds
 * no picture or cannot be read.
 */
export async function videoDuration(path: string, context: ProbeContext): Promise<number> {
  return inputVideoDuration(await fileInput(path), context);
}

/**
 * Like `videoDuration`, for an input that is already sniffed, by its headers and the packets at its end;
 * undefined when only reading it whole would tell.
 */
export async function headerVideoDuration(
  input: MediaInput,
  context: ProbeContext,
): Promise<number | undefined> {
  const media = await probeInput(input, context);
  const video = withPicture(media.video);
  const claimedMs = video.durationMs ?? media.durationMs;
  if (claimedMs === null || claimedMs <= 0) return undefined;
  // Headers may lie, and what they hide would be for nothing: the packets from the claimed end on say it.
  const fromSeconds = Math.max(0, Math.floor((video.startMs + claimedMs) / 1000) - tailSeconds);
  const endMs = await lastPacketEnd(input, video, context, fromSeconds);
  if (endMs === undefined) return undefined;
  const foundMs = endMs - video.startMs;
  // Matroska says where the stream ends, or only where the file does, counted from zero.
  const isRight = input.type.demuxer !== 'matroska' && Math.abs(foundMs - claimedMs) <= roundingMs;
  return isRight ? claimedMs : foundMs;
}

/** Like `videoDuration`, for an input that is already sniffed; read whole where the headers do not say it. */
export async function inputVideoDuration(input: MediaInput, context: ProbeContext): Promise<number> {
  const fromHeaders = await headerVideoDuration(input, context);
  if (fromHeaders !== undefined) return fromHeaders;
  const video = withPicture((await probeInput(input, context)).video);
  const endMs = await lastPacketEnd(input, video, context);
  if (endMs === undefined || endMs <= video.startMs)
    throw new MediaFailure('UNREADABLE', 'The video does not say how long it is.');
  return endMs - video.startMs;
}

function withPicture(video: ProbedVideo | null): ProbedVideo {
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has sound but no picture.');
  return video;
}

/** When the last of the stream's packets ends: demuxed only, from a key frame before `fromSeconds` on. */
async function lastPacketEnd(
  input: MediaInput,
  video: ProbedVideo,
  context: ProbeContext,
  fromSeconds?: number,
): Promise<number | undefined> {
  const scan = packetScan(1 / video.framesPerSecond);
  await runFfprobe({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: scanLimitMs,
    args: [
      ...['-v', 'error', '-of', 'csv=p=0', '-select_streams', String(video.index)],
      ...['-show_entries', 'packet=pts_time,dts_time,duration_time'],
      ...(fromSeconds === undefined ? [] : ['-read_intervals', `${fromSeconds}%`]),
      ...guardedInputOptions(input.type, input.protocols),
      ...['-i', input.url],
    ],
    onStdout: scan.onStdout,
  });
  return scan.endMs();
}

/**
 * Reads ffprobe's lines `pts,dts,duration` as they come and keeps the greatest end: memory does not grow. AVI has
 * no presentation times, only the order of decoding.
 */
function packetScan(defaultSeconds: number): {
  onStdout: (piece: Buffer) => void;
  endMs: () => number | undefined;
} {
  let rest = '';
  let endSeconds = Number.NEGATIVE_INFINITY;
  const onStdout = (piece: Buffer) => {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(-256);
    for (const line of lines) {
      const [shown, decoded, duration = Number.NaN] = line.split(',').map(Number.parseFloat);
      const start = [shown, decoded].find(Number.isFinite) ?? Number.NaN;
      const end = start + (Number.isFinite(duration) ? duration : defaultSeconds);
      if (end > endSeconds) endSeconds = end;
    }
  };
  return {
    onStdout,
    endMs: () => (Number.isFinite(endSeconds) ? Math.round(endSeconds * 1000) : undefined),
  };
}
