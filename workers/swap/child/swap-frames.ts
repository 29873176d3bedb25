import type { Readable } from 'node:stream';
import { runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { rawFrames } from '../../media/analysis/raw-frames.ts';
import type { SegmentReport, StageTimes, SwapPlan } from '../contract.ts';
import type { SwapEngine } from '../engine/swap-engine.ts';
import { expectedFaces } from '../faces/expected-face.ts';
import type { FaceFollower } from '../faces/face-follower.ts';
import { OneEuroMesh } from '../faces/one-euro.ts';
import { reachFrames, smoothedBothWays } from '../faces/two-sided-smoothing.ts';
import { FrameQueue } from '../video/frame-queue.ts';
import type { FrameSink } from '../video/timed-frames.ts';
import { decodeArguments, type FrameFormat, type FrameRange, frameBytes } from '../video/video-frames.ts';
import { readPatch, writePatch, type YuvFrame } from '../video/yuv-patch.ts';
import type { ChildContext } from './child-context.ts';

export type SwapFramesOrder = {
  readonly source: Parameters<typeof decodeArguments>[0];
  readonly plan: SwapPlan;
  readonly range: FrameRange;
  readonly format: FrameFormat;
  readonly sink: FrameSink;
  readonly encodeArguments: readonly string[];
  /** `fast`: smoothed as the frames come. `high`: smoothed by the frames before and after. */
  readonly quality: 'fast' | 'high';
  readonly engine: SwapEngine;
  readonly follower: FaceFollower;
  readonly wallMs: number;
  readonly onFrame: (side: 'before' | 'after', number: number, frame: YuvFrame) => Promise<void>;
};

/** Of one frame on its way. */
type Located = {
  readonly number: number;
  readonly frame: YuvFrame;
  /** Undefined where there is no face, or none that was seen well enough. */
  readonly points: Float32Array | undefined;
  /** A face was expected here. */
  readonly isExpected: boolean;
  readonly isCut: boolean;
};

/** So many frames are in work or wait for the encoder: with those for smoothing, all that memory holds. */
const framesUnderWay = 5;

type Counts = { readonly swapped: Set<number>; readonly missed: Set<number> };

/** Decodes a stretch of frames, swaps the face in them, and encodes them, as a stream. Throws `MediaFailure`. */
export async function swapFrames(
  order: SwapFramesOrder,
  context: ChildContext,
): Promise<{ readonly segments: readonly SegmentReport[]; readonly times: StageTimes }> {
  const begun = performance.now();
  const clock = { decode_ms: 0, encode_ms: 0 };
  const counts: Counts = { swapped: new Set(), missed: new Set() };
  const queue = new FrameQueue<{ readonly number: number; readonly done: Promise<YuvFrame> }>(framesUnderWay);
  const run = { tools: context.tools, cwd: context.taskFolder, signal: context.signal, wallMs: order.wallMs };
  const decoding = runFfmpeg({
    ...run,
    args: decodeArguments(order.source, order.range),
    outputs: [(output) => locateAndSwap(output, order, { queue, counts, clock })],
  }).then(
    () => queue.end(),
    (error: unknown) => queue.end(error),
  );
  const total = order.range.end_frame - order.range.first_frame;
  await runFfmpeg({
    ...run,
    args: order.encodeArguments,
    input: async (input) => {
      let written = 0;
      for await (const { number, done } of queue) {
        const frame = await done;
        await order.onFrame('after', number, frame);
        const from = performance.now();
        await order.sink.write(input, frame.data, number);
        clock.encode_ms += performance.now() - from;
        written += 1;
        if (written % 8 === 0) context.onDone(Math.min(1, written / total));
      }
      input.end();
    },
  }).finally(() => queue.end());
  await decoding;
  const times = stageTimes(order, clock, performance.now() - begun);
  return { segments: reports(order, counts, times), times };
}

function stageTimes(
  { engine, follower }: Pick<SwapFramesOrder, 'engine' | 'follower'>,
  clock: { readonly decode_ms: number; readonly encode_ms: number },
  wallMs: number,
): StageTimes {
  const whole = Math.round;
  return {
    decode_ms: whole(clock.decode_ms),
    detect_ms: whole(follower.times.detect_ms),
    mesh_ms: whole(follower.times.mesh_ms),
    warp_ms: whole(engine.times.warp_ms),
    blend_ms: whole(engine.times.blend_ms),
    encode_ms: whole(clock.encode_ms),
    wall_ms: whole(wallMs),
  };
}

type Passing = {
  readonly queue: FrameQueue<{ readonly number: number; readonly done: Promise<YuvFrame> }>;
  readonly counts: Counts;
  readonly clock: { decode_ms: number; encode_ms: number };
};

async function locateAndSwap(output: Readable, order: SwapFramesOrder, passing: Passing): Promise<void> {
  const smoother = meshSmoother(order);
  let wasSwapped = false;
  const give = async ({ number, frame, points, isExpected, isCut }: Located): Promise<void> => {
    await order.onFrame('before', number, frame);
    if (points === undefined) {
      if (isExpected) passing.counts.missed.add(number);
      wasSwapped = false;
      return passing.queue.push({ number, done: Promise.resolve(frame) });
    }
    passing.counts.swapped.add(number);
    const done = swapOne(frame, points, isCut || !wasSwapped, order.engine);
    // An error is thrown where the frame's turn comes.
    done.catch(() => undefined);
    wasSwapped = true;
    await passing.queue.push({ number, done });
  };
  for await (const located of locatedFrames(output, order, passing.clock)) {
    for (const ready of smoother.next(located)) await give(ready);
  }
  for (const ready of smoother.finish()) await give(ready);
}

async function* locatedFrames(
  output: Readable,
  order: SwapFramesOrder,
  clock: { decode_ms: number },
): AsyncGenerator<Located> {
  const expected = expectedFaces(order.plan);
  let number = order.range.first_frame;
  let from = performance.now();
  for await (const data of rawFrames(output, frameBytes(order.format), 'fresh')) {
    clock.decode_ms += performance.now() - from;
    const frame = { ...order.format, data };
    const isCut = expected.isCut(number);
    if (isCut) order.follower.reset();
    const box = expected.at(number);
    if (box === undefined) order.follower.reset();
    const points = box === undefined ? undefined : await order.follower.find(frame, box);
    yield { number, frame, points, isExpected: box !== undefined, isCut };
    number += 1;
    from = performance.now();
  }
}

async function swapOne(
  frame: YuvFrame,
  points: Float32Array,
  isNew: boolean,
  engine: SwapEngine,
): Promise<YuvFrame> {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let at = 0; at < points.length; at += 3) {
    left = Math.min(left, points[at] as number);
    right = Math.max(right, points[at] as number);
    top = Math.min(top, points[at + 1] as number);
    bottom = Math.max(bottom, points[at + 1] as number);
  }
  const side = Math.max(right - left, bottom - top) * engine.patchScale;
  const patch = readPatch(frame, { x: (left + right) / 2, y: (top + bottom) / 2, side });
  const before = patch.data.slice();
  const local = points.map((value, at) =>
    at % 3 === 0 ? value - patch.left : at % 3 === 1 ? value - patch.top : value,
  );
  const drawn = await engine.swap(patch, { points: local, isNew });
  writePatch(frame, drawn, before);
  return frame;
}

type MeshSmoother = {
  readonly next: (located: Located) => readonly Located[];
  readonly finish: () => readonly Located[];
};

function meshSmoother({ quality, plan }: SwapFramesOrder): MeshSmoother {
  return quality === 'fast' ? followingSmoother(framesPerSecond(plan)) : waitingSmoother();
}

function followingSmoother(rate: number): MeshSmoother {
  const euro = new OneEuroMesh(rate);
  return {
    next: (located) => {
      if (located.points === undefined || located.isCut) euro.reset();
      if (located.points === undefined) return [located];
      return [{ ...located, points: euro.next(located.points, eyes(located.points)) }];
    },
    finish: () => [],
  };
}

/** Holds each frame back until those after it are known that smooth it. */
function waitingSmoother(): MeshSmoother {
  const line: Located[] = [];
  let centre = 0;
  const smooth = (at: number): Located => {
    const own = line[at] as Located;
    if (own.points === undefined) return own;
    // Only frames of the same stretch count: as far as there is a face and no cut.
    let reach = 0;
    while (reach < reachFrames && joined(line, at - reach) && joined(line, at + reach + 1)) reach += 1;
    const around = line.slice(at - reach, at + reach + 1).map(({ points }) => points as Float32Array);
    return { ...own, points: smoothedBothWays(around, reach, eyes(own.points)) };
  };
  const advance = (least: number): Located[] => {
    const ready: Located[] = [];
    while (line.length - centre > least) {
      ready.push(smooth(centre));
      centre += 1;
      if (centre > reachFrames) {
        line.shift();
        centre -= 1;
      }
    }
    return ready;
  };
  return {
    next: (located) => {
      line.push(located);
      return advance(reachFrames);
    },
    finish: () => advance(0),
  };
}

/** Whether the frame at `index` and the one before it show the same face without a cut between. */
function joined(line: readonly Located[], index: number): boolean {
  const [before, after] = [line[index - 1], line[index]];
  return before?.points !== undefined && after?.points !== undefined && !after.isCut;
}

function eyes(points: Float32Array): number {
  const [left, right] = [33 * 3, 263 * 3];
  const across = (points[left] as number) - (points[right] as number);
  const down = (points[left + 1] as number) - (points[right + 1] as number);
  return Math.max(4, Math.hypot(across, down));
}

/** Of a plan, on average where frames have their own times. Pure. */
export function framesPerSecond({ timing, frame_count }: Pick<SwapPlan, 'timing' | 'frame_count'>): number {
  const [above = 30, below = 1] = (timing.kind === 'constant' ? timing.rate : timing.time_base)
    .split('/')
    .map(Number);
  if (timing.kind === 'constant') return above / below;
  const length = ((timing.times.at(-1) ?? 0) * above) / below;
  return length > 0 ? (frame_count - 1) / length : 30;
}

function reports({ plan, range }: SwapFramesOrder, counts: Counts, times: StageTimes): SegmentReport[] {
  const inRange = plan.segments.filter(
    ({ first_frame, end_frame }) => first_frame < range.end_frame && end_frame > range.first_frame,
  );
  return inRange.map(({ index, first_frame, end_frame }) => {
    const within = (numbers: ReadonlySet<number>): number =>
      [...numbers].filter((number) => number >= first_frame && number < end_frame).length;
    return {
      ...{ index, first_frame, end_frame, times },
      frames_swapped: within(counts.swapped),
      frames_missed: within(counts.missed),
    };
  });
}
