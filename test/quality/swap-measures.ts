import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { rawFrames } from '#workers/media/analysis/raw-frames.ts';
import { readCanonicalMesh } from '#workers/media/faces/canonical-mesh.ts';
import { FaceFinder } from '#workers/media/faces/face-finder.ts';
import type { FaceMesh } from '#workers/media/faces/face-mesh.ts';
import type { Box } from '#workers/media/faces/rgb-frame.ts';
import type { ChildContext } from '#workers/swap/child/child-context.ts';
import type { SwapPlan } from '#workers/swap/contract.ts';
import { expectedFaces } from '#workers/swap/faces/expected-face.ts';
import { FaceFollower } from '#workers/swap/faces/face-follower.ts';
import { shapeSpace, unposed } from '#workers/swap/landmark/identity-shape.ts';
import {
  decodeArguments,
  frameBytes,
  frameFormat,
  swappableVideo,
} from '#workers/swap/video/video-frames.ts';
import { readPatch, type YuvFrame } from '#workers/swap/video/yuv-patch.ts';
import type { FaceEmbedder } from './face-embedder.ts';

export type PairMeasures = {
  readonly framesBefore: number;
  readonly framesAfter: number;
  /** How far the points move otherwise than the original's, each from its own mean, in eye distances. */
  readonly expressionError: number;
  readonly flicker: number;
  readonly psnrOutside: number;
};

/** Eyes' outer corners of the canonical face are this many centimetres apart. */
const canonicalEyeDistance = 8.89;
/** The engine bends the picture up to 1.55 faces around the face's middle; beyond must nothing change. */
const changedScale = 1.7;

/** Compares a video before and after, frame by frame. */
export async function measurePair(
  pair: { readonly before: string; readonly after: string; readonly plan: SwapPlan },
  context: ChildContext,
): Promise<PairMeasures> {
  const [before, after] = [await framesOf(pair.before, context), await framesOf(pair.after, context)];
  const space = shapeSpace(await readCanonicalMesh(context.models));
  const expected = expectedFaces(pair.plan);
  const [followBefore, followAfter] = [
    await FaceFollower.open(context.models),
    await FaceFollower.open(context.models),
  ];
  const shapes: { readonly was: Float32Array; readonly is: Float32Array }[] = [];
  let [changeBefore, changeAfter, squares, compared] = [0, 0, 0, 0];
  for (const [number, frame] of before.entries()) {
    const result = after[number];
    const box = expected.at(number);
    if (result === undefined) break;
    if (box === undefined) continue;
    const [was, is] = [await followBefore.find(frame, box), await followAfter.find(result, box)];
    if (was !== undefined && is !== undefined)
      shapes.push({ was: unposed(was, space), is: unposed(is, space) });
    const outside = squaresOutside(frame, result, box);
    squares += outside.squares;
    compared += outside.count;
    const [earlier, earlierResult] = [before[number - 1], after[number - 1]];
    if (earlier === undefined || earlierResult === undefined || expected.isCut(number)) continue;
    changeBefore += changeInside(earlier, frame, box);
    changeAfter += changeInside(earlierResult, result, box);
  }
  return {
    framesBefore: before.length,
    framesAfter: after.length,
    expressionError: expressionError(shapes),
    flicker: changeAfter / Math.max(1e-9, changeBefore),
    psnrOutside: 10 * Math.log10(255 ** 2 / Math.max(1e-9, squares / Math.max(1, compared))),
  };
}

/** The source's proportions are meant to differ from the target's, its movements are not. */
function expressionError(
  shapes: readonly { readonly was: Float32Array; readonly is: Float32Array }[],
): number {
  const length = shapes[0]?.was.length ?? 0;
  const mean = (of: (shape: (typeof shapes)[number]) => Float32Array): Float64Array => {
    const sum = new Float64Array(length);
    for (const shape of shapes)
      for (const [at, value] of of(shape).entries()) sum[at] = (sum[at] as number) + value / shapes.length;
    return sum;
  };
  const [meanWas, meanIs] = [mean(({ was }) => was), mean(({ is }) => is)];
  let sum = 0;
  for (const { was, is } of shapes) {
    for (let at = 0; at < length; at += 3) {
      const moved = [0, 1].map(
        (axis) =>
          (is[at + axis] as number) -
          (meanIs[at + axis] as number) -
          (was[at + axis] as number) +
          (meanWas[at + axis] as number),
      );
      sum += Math.hypot(...moved);
    }
  }
  return sum / Math.max(1, (shapes.length * length) / 3) / canonicalEyeDistance;
}

function squaresOutside(before: YuvFrame, after: YuvFrame, box: Box): { squares: number; count: number } {
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const [halfWidth, halfHeight] = [
    ((box.right - box.left) / 2) * changedScale,
    ((box.bottom - box.top) / 2) * changedScale,
  ];
  let [squares, count] = [0, 0];
  for (let row = 0; row < before.height; row += 1) {
    for (let column = 0; column < before.width; column += 1) {
      if (Math.abs(column - x) < halfWidth && Math.abs(row - y) < halfHeight) continue;
      const at = row * before.width + column;
      const difference = (before.data[at] as number) - (after.data[at] as number);
      squares += difference * difference;
      count += 1;
    }
  }
  return { squares, count };
}

/** Mean change of brightness inside the face's ellipse from one frame to the next. */
function changeInside(earlier: YuvFrame, frame: YuvFrame, box: Box): number {
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  let [sum, count] = [0, 0];
  for (let row = Math.max(0, Math.floor(box.top)); row < Math.min(frame.height, box.bottom); row += 1) {
    for (
      let column = Math.max(0, Math.floor(box.left));
      column < Math.min(frame.width, box.right);
      column += 1
    ) {
      const across = (column - x) / ((box.right - box.left) / 2);
      const down = (row - y) / ((box.bottom - box.top) / 2);
      if (across * across + down * down > 0.8) continue;
      const at = row * frame.width + column;
      sum += Math.abs((frame.data[at] as number) - (earlier.data[at] as number));
      count += 1;
    }
  }
  return sum / Math.max(1, count);
}

/** The descriptor of a video's face: of one frame, after the middle. */
export async function sampleDescriptor(
  path: string,
  plan: SwapPlan,
  embedder: FaceEmbedder,
  context: ChildContext,
): Promise<Float32Array> {
  const frames = await framesOf(path, context);
  const expected = expectedFaces(plan);
  const inside = frames.flatMap((frame, number) => {
    const box = expected.at(number);
    return box === undefined ? [] : [{ frame, box }];
  });
  const found = inside[Math.floor(inside.length * 0.6)];
  if (found === undefined) return new Float32Array(128);
  const { frame, box } = found;
  const patch = readPatch(frame, {
    x: (box.left + box.right) / 2,
    y: (box.top + box.bottom) / 2,
    side: (box.bottom - box.top) * 2.4,
  });
  const mesh = await meshIn(patch, context);
  return mesh === undefined ? new Float32Array(128) : embedder(patch, mesh);
}

async function meshIn(
  patch: Parameters<FaceFinder['find']>[0],
  context: ChildContext,
): Promise<FaceMesh | undefined> {
  const faces = await (await FaceFinder.open(context.models)).find(patch);
  const middle = (box: Box): number => Math.abs((box.left + box.right) / 2 - patch.width / 2);
  return faces.toSorted((a, b) => middle(a.box) - middle(b.box))[0]?.mesh ?? undefined;
}

/** All frames of a short video. */
async function framesOf(path: string, context: ChildContext): Promise<readonly YuvFrame[]> {
  const media = await probe(path, context);
  const video = swappableVideo(media);
  const format = frameFormat(video);
  const frames: YuvFrame[] = [];
  await runFfmpeg({
    ...run(context),
    args: decodeArguments({ path, media, video }, undefined),
    outputs: [
      async (output: Readable) => {
        for await (const data of rawFrames(output, frameBytes(format), 'fresh'))
          frames.push({ ...format, data });
      },
    ],
  });
  return frames;
}

/** A hash over the sound's packets as they lie in the file. */
export async function audioPackets(path: string, context: ChildContext): Promise<string> {
  const { type, audio } = await probe(path, context);
  if (audio === null) return 'none';
  const hash = createHash('sha256');
  await runFfmpeg({
    ...run(context),
    args: [
      ...['-v', 'error', ...guardedInputOptions(type), '-i', inputUrl(path), '-map', `0:${audio.index}`],
      ...['-c', 'copy', '-f', 'data', 'pipe:1'],
    ],
    onStdout: (piece) => hash.update(piece),
  });
  return hash.digest('hex');
}

/** Cuts a part out of a video: frames coded again as good as lossless, so that it starts exactly there. */
export async function excerpt(
  path: string,
  part: { readonly fromSeconds: number; readonly seconds: number; readonly to: string },
  context: ChildContext,
): Promise<void> {
  const { type } = await probe(path, context);
  const from = ['-ss', String(part.fromSeconds), '-t', String(part.seconds)];
  const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '10', '-c:a', 'copy'];
  await runFfmpeg({
    ...run(context),
    args: [
      '-v',
      'error',
      ...guardedInputOptions(type),
      ...from,
      '-i',
      inputUrl(path),
      ...coding,
      '-y',
      inputUrl(part.to),
    ],
  });
}

function run(context: ChildContext) {
  const { tools, signal } = context;
  return { tools, signal, cwd: context.taskFolder, wallMs: 120_000 };
}
