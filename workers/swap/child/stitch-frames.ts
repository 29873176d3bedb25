import type { Readable } from 'node:stream';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { probe } from '#infra/media/probe.ts';
import { runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { rawFrames } from '../../media/analysis/raw-frames.ts';
import type { StageTimes, SwapPlan } from '../contract.ts';
import { FrameQueue } from '../video/frame-queue.ts';
import type { FrameSink } from '../video/timed-frames.ts';
import { decodeArguments, type FrameFormat, frameBytes, swappableVideo } from '../video/video-frames.ts';
import type { YuvFrame } from '../video/yuv-patch.ts';
import type { ChildContext } from './child-context.ts';

export type StitchOrder = {
  readonly source: Parameters<typeof decodeArguments>[0];
  readonly plan: SwapPlan;
  readonly segments: readonly { readonly segment: number; readonly path: string }[];
  readonly format: FrameFormat;
  readonly sink: FrameSink;
  readonly encodeArguments: readonly string[];
  readonly wallMs: number;
  readonly onFrame: (side: 'before' | 'after', number: number, frame: YuvFrame) => Promise<void>;
};

const framesUnderWay = 4;

/** Puts the segments' frames into their places in the source and encodes all of it once. Throws `MediaFailure`. */
export async function stitchFrames(order: StitchOrder, context: ChildContext): Promise<StageTimes> {
  const begun = performance.now();
  const { plan } = order;
  const whole = framesOf(order.source, order, context);
  const parts: FrameQueue<Uint8Array>[] = [];
  let encodeMs = 0;
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: order.wallMs,
    args: order.encodeArguments,
    input: async (input) => {
      let number = 0;
      let replacing: { readonly frames: AsyncIterator<Uint8Array>; readonly end: number } | undefined;
      for await (const original of whole) {
        const segment = plan.segments.find(({ first_frame }) => first_frame === number);
        if (segment !== undefined) {
          const frames = await segmentFrames(order, segment.index, context);
          parts.push(frames);
          replacing = { frames: frames[Symbol.asyncIterator](), end: segment.end_frame };
        }
        if (replacing !== undefined && number >= replacing.end) replacing = undefined;
        const swapped = replacing === undefined ? undefined : await replacing.frames.next();
        if (swapped?.done === true) throw tooShort(number);
        const data = swapped?.value ?? original;
        await order.onFrame('before', number, { ...order.format, data: original });
        await order.onFrame('after', number, { ...order.format, data });
        const from = performance.now();
        await order.sink.write(input, data, number);
        encodeMs += performance.now() - from;
        number += 1;
        if (number % 16 === 0) context.onDone(Math.min(1, number / plan.frame_count));
      }
      input.end();
    },
  }).finally(() => {
    // Whatever was not read of them is not wanted: their decoders end.
    for (const queue of [whole, ...parts]) queue.end();
  });
  const none = { decode_ms: 0, detect_ms: 0, mesh_ms: 0, warp_ms: 0, blend_ms: 0 };
  return { ...none, encode_ms: Math.round(encodeMs), wall_ms: Math.round(performance.now() - begun) };
}

async function segmentFrames(
  order: StitchOrder,
  segment: number,
  context: ChildContext,
): Promise<FrameQueue<Uint8Array>> {
  const part = order.segments.find((each) => each.segment === segment);
  if (part === undefined) throw new MediaFailure('RESULT_WRONG', 'A part of the swapped video is missing.');
  const media = await probe(part.path, context);
  return framesOf({ path: part.path, media, video: swappableVideo(media) }, order, context);
}

/** A file's frames, decoded no faster than they are taken. */
function framesOf(
  source: StitchOrder['source'],
  order: StitchOrder,
  context: ChildContext,
): FrameQueue<Uint8Array> {
  const queue = new FrameQueue<Uint8Array>(framesUnderWay);
  void runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: order.wallMs,
    args: decodeArguments(source, undefined),
    outputs: [
      async (output: Readable) => {
        for await (const data of rawFrames(output, frameBytes(order.format), 'fresh')) await queue.push(data);
      },
    ],
  }).then(
    () => queue.end(),
    (error: unknown) => queue.end(error),
  );
  return queue;
}

function tooShort(number: number): MediaFailure {
  return new MediaFailure('RESULT_WRONG', 'A part of the swapped video is incomplete.', {
    detail: `no frame for ${number}`,
  });
}
