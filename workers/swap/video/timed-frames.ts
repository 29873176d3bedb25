import type { Writable } from 'node:stream';
import type { FrameTiming } from '../contract.ts';
import { ticksPerSecond } from './exact-rate.ts';
import type { FrameFormat } from './video-frames.ts';

/**
 * How raw frames go to the encoder: bare at a constant rate; where each has its own time, in a Matroska stream
 * (RFC 9559), which is the simplest container that both holds raw pictures and can be written without seeking.
 */
export type FrameSink = {
  /** ffmpeg's options for reading the stream from its standard input. */
  readonly inputOptions: readonly string[];
  /** ffmpeg's options for keeping the times. */
  readonly outputOptions: readonly string[];
  /** Writes the next frame; resolves when the next may come. */
  readonly write: (output: Writable, data: Uint8Array, frame: number) => Promise<void>;
};

/** What may be read from standard input only: our own frames. */
const pipeGuards = ['-protocol_whitelist', 'pipe'];

/** Makes a stream of frames that starts with the plan's frame `firstFrame`. Pure until written to. */
export function frameSink(timing: FrameTiming, format: FrameFormat, firstFrame: number): FrameSink {
  const size = `${format.width}x${format.height}`;
  if (timing.kind === 'constant') {
    return {
      inputOptions: [...pipeGuards, '-f', 'rawvideo', '-pix_fmt', 'yuv420p', '-s', size, '-r', timing.rate],
      outputOptions: [],
      write: (output, data) => written(output, data),
    };
  }
  const zero = timing.times[firstFrame] ?? 0;
  let isBegun = false;
  return {
    inputOptions: [...pipeGuards, '-f', 'matroska'],
    outputOptions: [
      ...['-fps_mode', 'passthrough', '-enc_time_base', `1:${ticksPerSecond}`],
      ...['-video_track_timescale', String(ticksPerSecond)],
    ],
    write: async (output, data, frame) => {
      if (!isBegun) await written(output, matroskaHead(format));
      isBegun = true;
      const ticks = (timing.times[frame] ?? 0) - zero;
      await written(output, clusterHead(ticks, data.length));
      await written(output, data);
    },
  };
}

/** Resolves when the data has left, or can no longer: the frame's memory may be used again. */
async function written(output: Writable, data: Uint8Array): Promise<void> {
  if (output.destroyed) return;
  await new Promise<void>((resolve) => output.write(data, () => resolve()));
}

/** An element: its id, its length on eight bytes, its content. */
function element(id: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([idBytes(id), lengthBytes(body.length), body]);
}

function idBytes(id: number): Buffer {
  const bytes = [24, 16, 8, 0].map((shift) => (id >>> shift) & 0xff);
  return Buffer.from(bytes.slice(bytes.findIndex((byte) => byte !== 0)));
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE((1n << 56n) | BigInt(length));
  return bytes;
}

const unknownLength = Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);

function whole(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');

/** Times are written in microseconds: finer than a tick of 1/90000 s by a factor of eleven. */
const scaleNanoseconds = 1000;

function matroskaHead({ width, height }: FrameFormat): Buffer {
  const head = element(
    0x1a45dfa3,
    element(0x4286, whole(1)),
    element(0x42f7, whole(1)),
    element(0x42f2, whole(4)),
    element(0x42f3, whole(8)),
    element(0x4282, text('matroska')),
    element(0x4287, whole(4)),
    element(0x4285, whole(2)),
  );
  const picture = element(
    0xe0,
    element(0xb0, whole(width)),
    element(0xba, whole(height)),
    element(0x2eb524, text('I420')),
  );
  const track = element(
    0xae,
    element(0xd7, whole(1)),
    element(0x73c5, whole(1)),
    element(0x83, whole(1)),
    element(0x86, text('V_UNCOMPRESSED')),
    picture,
  );
  return Buffer.concat([
    head,
    idBytes(0x18538067),
    unknownLength,
    element(
      0x1549a966,
      element(0x2ad7b1, whole(scaleNanoseconds)),
      element(0x4d80, text('frames')),
      element(0x5741, text('frames')),
    ),
    element(0x1654ae6b, track),
  ]);
}

/** The bytes before a frame's own: a cluster with a single block in it. */
function clusterHead(ticks: number, length: number): Buffer {
  const time = element(0xe7, whole(Math.round((ticks * 1e9) / ticksPerSecond / scaleNanoseconds)));
  // Track 1, no time of its own beside the cluster's, a key frame.
  const block = Buffer.from([0x81, 0, 0, 0x80]);
  const blockHead = Buffer.concat([idBytes(0xa3), lengthBytes(length + block.length), block]);
  return Buffer.concat([
    idBytes(0x1f43b675),
    lengthBytes(time.length + blockHead.length + length),
    time,
    blockHead,
  ]);
}
