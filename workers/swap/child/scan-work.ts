import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { rawFrames } from '../../media/analysis/raw-frames.ts';
import { readCanonicalMesh } from '../../media/faces/canonical-mesh.ts';
import { FaceFinder } from '../../media/faces/face-finder.ts';
import { headPose } from '../../media/faces/face-measures.ts';
import { trackFaces } from '../../media/faces/face-tracker.ts';
import type { Box } from '../../media/faces/rgb-frame.ts';
import { ShotDetector, thumbnailBytes, thumbnailSize } from '../../media/shots/shot-detector.ts';
import type { IdentityTrack, SwapPlan } from '../contract.ts';
import { faceSegments, type PersonTrack, persons } from '../faces/identity.ts';
import { shapeDistance, shapeSpace, unposed } from '../landmark/identity-shape.ts';
import { constantRate, ticksPerSecond } from '../video/exact-rate.ts';
import { formatFilters, frameFormat, swappableVideo } from '../video/video-frames.ts';
import type { ChildContext } from './child-context.ts';

const samplesPerSecond = 5;
const longestSide = 640;
const timesFile = 'frame-times.txt';
/** Beyond, the mesh is a guess on one side. */
const mostYaw = 50;
const frontalYaw = 18;
const scanStartMs = 120_000;
const scanMsPerVideoMs = 4;
/** A face that is in the picture for less than this is none to swap. */
const fewestSamples = 2;

type Sample = {
  readonly frame: number;
  readonly box: Box;
  readonly yaw: number;
  readonly shape: Float32Array;
};

/** Looks at a whole video once and makes the plan of its swap. Throws `MediaFailure`. */
export async function scanVideo(
  order: { readonly videoPath: string; readonly maxDurationMs: number },
  context: ChildContext,
): Promise<SwapPlan> {
  const media = await probe(order.videoPath, context);
  const video = swappableVideo(media);
  const claimedMs = video.durationMs ?? media.durationMs ?? order.maxDurationMs;
  const expectedFrames = Math.max(1, (claimedMs / 1000) * video.framesPerSecond);
  const format = frameFormat(video);
  const shrink = Math.min(1, longestSide / Math.max(format.width, format.height));
  const even = (value: number): number => Math.max(16, Math.round((value * shrink) / 2) * 2);
  const [width, height] = [even(format.width), even(format.height)];
  const step = Math.max(1, Math.round(video.framesPerSecond / samplesPerSecond));
  const shapes = shapeSpace(await readCanonicalMesh(context.models));
  const finder = await FaceFinder.open(context.models);
  const shots = new ShotDetector(video.framesPerSecond);
  const samples: { frame: number; faces: Sample[] }[] = [];
  const mostFrames = Math.ceil((order.maxDurationMs / 1000 + 1) * Math.min(1000, video.framesPerSecond)) + 1;
  let frames = 0;
  const raw = ['-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24'];
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: scanStartMs + Math.min(claimedMs, order.maxDurationMs) * scanMsPerVideoMs,
    args: [
      ...[
        '-v',
        'error',
        ...guardedInputOptions(media.type),
        '-threads',
        '2',
        '-i',
        inputUrl(order.videoPath),
      ],
      '-filter_complex',
      `[0:${video.index}]settb=1/${ticksPerSecond},${formatFilters(video).join(',')},split=2[every][some];` +
        // Only frames with some metadata are printed.
        `[every]scale=${thumbnailSize.width}:${thumbnailSize.height}:flags=area,` +
        `metadata=mode=add:key=seen:value=1,metadata=mode=print:file=${timesFile}[thumbnails];` +
        `[some]select='not(mod(n\\,${step}))',scale=${width}:${height}:flags=bilinear[faces]`,
      ...['-map', '[thumbnails]', ...raw, 'pipe:1', '-map', '[faces]', ...raw, 'pipe:3'],
    ],
    outputs: [
      async (output: Readable) => {
        for await (const thumbnail of rawFrames(output, thumbnailBytes, 'fresh')) {
          shots.push(thumbnail);
          frames += 1;
          if (frames > mostFrames) throw tooLong(order.maxDurationMs);
          if (frames % 16 === 0) context.onDone(Math.min(1, frames / expectedFrames));
        }
      },
      async (output: Readable) => {
        for await (const data of rawFrames(output, width * height * 3, 'reuse')) {
          const frame = samples.length * step;
          const picture = { data, width, height };
          const faces = (await finder.find(picture)).flatMap(({ box, mesh: found }): Sample[] => {
            if (found === null) return [];
            return [
              {
                ...{ frame, box, yaw: headPose(found).yaw },
                shape: unposed(found.points, shapes),
              },
            ];
          });
          samples.push({ frame, faces });
        }
      },
    ],
  });
  const measures = shots.finish();
  if (measures.frameCount === 0) {
    throw new MediaFailure('UNREADABLE', 'The video is damaged: no picture could be decoded.');
  }
  const ticks = await frameTicks(context.taskFolder, measures.frameCount);
  const durationMs =
    ticks.length === 0
      ? (measures.frameCount / video.framesPerSecond) * 1000
      : (((ticks.at(-1) ?? 0) - (ticks[0] ?? 0)) / ticksPerSecond) * 1000;
  if (durationMs > order.maxDurationMs) throw tooLong(order.maxDurationMs);
  const { cutFrames } = measures;
  const tracks = trackFaces(samples, { cutFrames, framesPerSample: step })
    .filter((faces) => faces.some(({ yaw }) => Math.abs(yaw) < mostYaw))
    .map((faces) => ({ ...personTrack(faces), faces }));
  const everybody = persons(tracks, (a, b) => shapeDistance(a, b, shapes));
  const chosen = everybody[0] ?? [];
  const seen = chosen.reduce((sum, { frames: each }) => sum + each.length, 0);
  if (seen < Math.min(fewestSamples, samples.length)) throw noFace();
  const rate = constantRate(ticks, video.framesPerSecond);
  const framesPerSecond = rate === undefined ? video.framesPerSecond : rate.frames / rate.seconds;
  const segments = faceSegments(chosen, { frameCount: measures.frameCount, framesPerSecond, cutFrames });
  if (segments.length === 0) throw noFace();
  const [first = 0] = ticks;
  return {
    version: 1,
    frame_count: measures.frameCount,
    timing:
      rate === undefined
        ? { kind: 'variable', time_base: `1/${ticksPerSecond}`, times: ticks.map((tick) => tick - first) }
        : { kind: 'constant', rate: `${rate.frames}/${rate.seconds}` },
    width: format.width,
    height: format.height,
    segments: [...segments],
    identity: chosen
      .toSorted((a, b) => (a.frames[0] ?? 0) - (b.frames[0] ?? 0))
      .map(({ faces }) => identityTrack(faces, format.width / width, format.height / height)),
    cut_frames: [...cutFrames],
    neutral_shape: Array.from(meanShape(chosen.flatMap(({ faces }) => faces)), (value) =>
      Math.round(value * 1000),
    ),
    notes: notes(everybody.length, rate === undefined),
  };
}

function personTrack(faces: readonly Sample[]): PersonTrack {
  return {
    frames: faces.map(({ frame }) => frame),
    shape: meanShape(faces),
    height: faces.reduce((sum, { box }) => sum + box.bottom - box.top, 0) / faces.length,
  };
}

function identityTrack(faces: readonly Sample[], across: number, down: number): IdentityTrack {
  const column = (of: (box: Box) => number): number[] => faces.map(({ box }) => Math.round(of(box)));
  return {
    frames: faces.map(({ frame }) => frame),
    left: column(({ left }) => left * across),
    top: column(({ top }) => top * down),
    right: column(({ right }) => right * across),
    bottom: column(({ bottom }) => bottom * down),
  };
}

/** The mean of a face's shapes, those seen from the front above all. */
function meanShape(faces: readonly Sample[]): Float32Array {
  const sum = new Float64Array(faces[0]?.shape.length ?? 0);
  let total = 0;
  for (const { shape, yaw } of faces) {
    const weight = Math.exp(-0.5 * (yaw / frontalYaw) ** 2) + 1e-3;
    total += weight;
    for (const [at, value] of shape.entries()) sum[at] = (sum[at] as number) + weight * value;
  }
  return Float32Array.from(sum, (value) => value / total);
}

/** When each frame is shown: lines such as `frame:12 pts:45045 pts_time:0.5005`. */
async function frameTicks(folder: string, frameCount: number): Promise<readonly number[]> {
  const text = await readFile(join(folder, timesFile), 'utf8').catch(() => '');
  const ticks = Array.from(text.matchAll(/^frame:\d+\s+pts:(-?\d+)/gm), ([, tick]) => Number(tick));
  // Frames without a time, or out of order, are shown one after the other.
  const isUsable =
    ticks.length === frameCount && ticks.every((tick, at) => at === 0 || tick > (ticks[at - 1] ?? 0));
  return isUsable ? ticks : [];
}

function notes(personCount: number, isVariable: boolean): string[] {
  return [
    ...(personCount > 1
      ? ['Several persons are in the video: only the face that is longest in the picture was swapped.']
      : []),
    ...(isVariable ? ['The frames keep their own, uneven times.'] : []),
  ];
}

function noFace(): MediaFailure {
  return new MediaFailure(
    'NO_FACE',
    'No face was found in the video: it needs a person whose face is well lit, turned to the camera and not too small.',
  );
}

function tooLong(maxDurationMs: number): MediaFailure {
  return new MediaFailure(
    'SOURCE_TOO_LONG',
    `The video is longer than ${Math.round(maxDurationMs / 1000)} s.`,
  );
}
