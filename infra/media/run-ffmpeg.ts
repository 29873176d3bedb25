import { type LimitedProcess, ProcessFailed, runLimited } from './limited-process.ts';
import { MediaFailure } from './media-failure.ts';
import type { MediaTools } from './media-tools.ts';
import type { MediaType } from './sniff.ts';

/** 8192x4320: the largest picture that any decoder may be asked for. */
export const maxPixels = 8192 * 4320;
const maxStreams = 64;
/** What an input is read by: a local file, or our own server on loopback. */
export type InputProtocols = 'file' | 'http,tcp';
/** A 4K HEVC decode beside an x264 encode stays under 2 GiB of addresses with two threads each. */
const ffmpegAddressSpaceBytes = 4 * 1024 ** 3;
/** The largest file that ffmpeg may write. */
export const mostFileBytes = 4 * 1024 ** 3;

/**
 * What must stand before an untrusted input, for ffmpeg and ffprobe alike: local files only (unless the input
 * is ours on loopback), exactly the one demuxer that its content asks for (a playlist named .mp4 must not open
 * other files), bounded pictures and streams.
 */
export function guardedInputOptions(type: MediaType, protocols: InputProtocols = 'file'): readonly string[] {
  if (type.demuxer === undefined) throw new Error(`no demuxer may read ${type.contentType}`);
  const options = [
    '-protocol_whitelist',
    protocols,
    '-format_whitelist',
    formatNames[type.demuxer] ?? type.demuxer,
  ];
  const bounds = ['-max_pixels', String(maxPixels), '-max_streams', String(maxStreams)];
  return [...options, '-f', type.demuxer, ...(ownReferences[type.demuxer] ?? []), ...bounds];
}

/** Demuxers that can be led to other files by the material itself, and how that is switched off. */
const ownReferences: Readonly<Record<string, readonly string[]>> = {
  mov: ['-enable_drefs', '0', '-use_absolute_path', '0'],
};

/** A demuxer that registers under several names must be whitelisted by all of them. */
const formatNames: Readonly<Record<string, string>> = {
  mov: 'mov,mp4,m4a,3gp,3g2,mj2',
  matroska: 'matroska,webm',
};

/** The path as a URL of the one allowed protocol, so that no file name reads as another. */
export function inputUrl(path: string): string {
  return `file:${path}`;
}

export type FfmpegRun = Pick<
  LimitedProcess,
  'cwd' | 'signal' | 'env' | 'onStdout' | 'onStderr' | 'outputs' | 'input' | 'env'
> & {
  readonly tools: MediaTools;
  readonly args: readonly string[];
  readonly wallMs: number;
};

/** Runs ffmpeg within limits; returns the tail of its stderr. Fails only with `MediaFailure`. */
export async function runFfmpeg(run: FfmpegRun): Promise<string> {
  return limited(run, run.tools.ffmpegPath, ['-hide_banner', '-nostdin', '-nostats', ...run.args]);
}

/** Runs ffprobe within limits; its output goes to `onStdout`. Fails only with `MediaFailure`. */
export async function runFfprobe(run: FfmpegRun): Promise<string> {
  return limited(run, run.tools.ffprobePath, ['-hide_banner', ...run.args]);
}

/** Arguments that make ffmpeg report on its standard output, for `progressReader`. */
export const progressOptions = ['-progress', 'pipe:1', '-stats_period', '0.5'] as const;

/** Reads ffmpeg's progress lines and says how far into the output it is, in milliseconds. */
export function progressReader(onTime: (outMs: number) => void): (piece: Buffer) => void {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = (lines.pop() ?? '').slice(-256);
    for (const line of lines) {
      const microseconds = /^out_time_us=(\d+)/.exec(line)?.[1];
      if (microseconds !== undefined) onTime(Number(microseconds) / 1000);
    }
  };
}

async function limited(run: FfmpegRun, program: string, args: readonly string[]): Promise<string> {
  assertGuarded(args);
  try {
    return await runLimited({
      ...run,
      program,
      args,
      limits: {
        wallMs: run.wallMs,
        memory: { kind: 'addressSpace', bytes: ffmpegAddressSpaceBytes },
        fileBytes: mostFileBytes,
      },
    });
  } catch (error) {
    throw error instanceof ProcessFailed ? meaningOf(error) : error;
  }
}

/** An input without `guardedInputOptions` is a fault of ours, and must not wait for a hostile file to show. */
function assertGuarded(args: readonly string[]): void {
  const inputs = args.filter((arg) => arg === '-i').length;
  const guards = args.filter((arg) => arg === '-protocol_whitelist').length;
  if (inputs === 0 || inputs !== guards) throw new Error(`${inputs} inputs, but ${guards} guards of them`);
}

/** ffmpeg rejecting what we asked of it, rather than what it was given. */
const ownFaults =
  /No such filter|Error applying options to the filter|Option \S+ not found|Unknown encoder|Unrecognized option/;

function meaningOf(failed: ProcessFailed): MediaFailure {
  const about = { cause: failed, detail: `${failed.message}: ${failed.stderrTail.slice(-1500)}` };
  const tail = failed.stderrTail;
  if (failed.exitSignal === 'SIGKILL' || /Cannot allocate memory/.test(tail)) {
    return new MediaFailure(
      'MEMORY_LIMIT',
      'Working on the video needed more memory than is allowed.',
      about,
    );
  }
  if (failed.exitSignal !== null) {
    return new MediaFailure('TOOL_BROKEN', 'The media tools crashed while working on the video.', about);
  }
  if (/No space left on device|File size limit exceeded/.test(tail)) {
    return new MediaFailure('TOOL_BROKEN', 'There was no room left to work on the video.', about);
  }
  if (ownFaults.test(tail)) {
    return new MediaFailure('TOOL_BROKEN', 'The media tools cannot do this work on this machine.', about);
  }
  return new MediaFailure('UNREADABLE', 'The video is damaged or cannot be decoded.', about);
}
