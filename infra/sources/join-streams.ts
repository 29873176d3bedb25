import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpegArguments } from '../media/ffmpeg-command.ts';
import type { MediaTools } from '../media/media-tools.ts';
import { notMedia } from '../media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '../media/run-ffmpeg.ts';
import { type MediaType, sniff } from '../media/sniff.ts';

export type StreamsToJoin = {
  /** One file with everything, or picture and sound apart. */
  readonly parts: readonly string[];
  readonly tools: MediaTools;
  readonly folder: string;
  readonly signal: AbortSignal;
};

const joinLimitMs = 5 * 60_000;
const headBytes = 4096;
const transportStream: MediaType = { kind: 'video', contentType: 'video/mp2t', demuxer: 'mpegts' };

/**
 * Makes one video file of what a platform gave, and returns its path: the only part as it is where our formats
 * hold it, else all parts copied into an MP4 without encoding. Throws `MediaFailure`.
 */
export async function joinStreams(streams: StreamsToJoin): Promise<string> {
  const types = await Promise.all(streams.parts.map(partType));
  const [onlyPart] = streams.parts;
  if (onlyPart !== undefined && streams.parts.length === 1 && types[0] !== transportStream) return onlyPart;
  const joined = join(streams.folder, 'joined.mp4');
  const args = ffmpegArguments((command) => {
    for (const [index, part] of streams.parts.entries()) {
      command.input(inputUrl(part)).inputOptions(...guardedInputOptions(types[index] ?? transportStream));
    }
    command.outputOptions('-map', '0:v:0', '-map', streams.parts.length > 1 ? '1:a:0' : '0:a:0?');
    command.outputOptions('-c', 'copy', '-map_metadata', '-1').output(joined);
  });
  await runFfmpeg({
    tools: streams.tools,
    cwd: streams.folder,
    signal: streams.signal,
    wallMs: joinLimitMs,
    args,
  });
  return joined;
}

async function partType(path: string): Promise<MediaType> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(headBytes);
    const { bytesRead } = await file.read(head, 0, headBytes, 0);
    const type = isTransportStream(head.subarray(0, bytesRead))
      ? transportStream
      : sniff(head.subarray(0, bytesRead));
    if (type.demuxer === undefined) throw notMedia(type);
    return type;
  } finally {
    await file.close();
  }
}

/** Platforms cut HLS into MPEG transport streams: packets of 188 bytes that all begin with the same byte. */
function isTransportStream(head: Buffer): boolean {
  return head.length >= 3 * 188 && [0, 188, 376].every((offset) => head[offset] === 0x47);
}
