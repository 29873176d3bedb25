import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type {
  SegmentReport,
  SwapContext,
  SwapPlan,
  SwappedVideo,
  SwapReport,
} from '#workers/swap/contract.ts';
import type { SwapMaking } from '#workers/swap/runtime/swap-parts.ts';

export type SwapScript = Readonly<{
  segments: number;
  segmentMs?: number;
  stitchMs?: number;
  durationMs?: number;
  /** Called before each segment is swapped; what it throws is the segment's failure. */
  onSegment?: (segment: number) => void;
  onExamine?: () => void;
  /** A file that gets a line for each call, `what pid`, also when its process is killed then. */
  callsFile?: string | undefined;
}>;

export const framesPerSegment = 25;
const times = { decode_ms: 0, detect_ms: 0, mesh_ms: 0, warp_ms: 0, blend_ms: 0, encode_ms: 0, wall_ms: 0 };

/** What the result of scripted swaps must hold: every segment once, in order, of the inputs that were stored. */
export const scriptedResult = (segments: number, video: string, face: string): string =>
  Array.from({ length: segments }, (_, index) => `segment ${index} of ${video} with ${face}\n`).join('');

/** Swaps that do no media work but keep the contract: for tests of the runtime around it. */
export function scriptedSwaps(script: SwapScript): SwapMaking {
  const called = async (what: string) => {
    if (script.callsFile !== undefined) await appendFile(script.callsFile, `${what} ${process.pid}\n`);
  };
  const plan = scriptedSwapPlan(script.segments);
  return {
    settings: { engine: 'landmark', label: null, isLicenceAcknowledged: false },
    limits: { maxBytes: 1_000_000, maxDurationMs: 300_000 },
    pipeline: {
      fetchFaceImage: async ({ url }, { taskFolder }) => {
        const path = join(taskFolder, 'face-image');
        await writeFile(path, `the face at ${url}`);
        return { path, contentType: 'image/jpeg' };
      },
      videoDuration: async () => script.durationMs ?? 10_000,
      examineFaceImage: async () => {
        await called('examine');
        script.onExamine?.();
        const chosen = { left: 0, top: 0, width: 10, height: 10 };
        const notes = ['The largest of 2 faces in the image was used.'];
        return { image_width: 20, image_height: 20, face_count: 2, chosen, yaw: 0, pitch: 0, notes };
      },
      scanFaces: async (_path, { onProgress }) => {
        await called('scan');
        onProgress({ stage: 'scanning', fraction: 1 });
        return plan;
      },
      swapWhole: async ({ videoPath, imagePath }, context) => {
        await called('whole');
        await wait(script.segmentMs ?? 0, context);
        const text = `whole of ${await readFile(videoPath, 'utf8')} with ${await readFile(imagePath, 'utf8')}`;
        return video(
          text,
          'face',
          plan.segments.map(({ index }) => reportOf(plan, index)),
          context,
        );
      },
      swapSegment: async ({ videoPath, imagePath, segment }, context) => {
        await called(`segment-${segment}`);
        script.onSegment?.(segment);
        context.onProgress({ stage: 'swapping', fraction: 0.5 });
        await wait(script.segmentMs ?? 0, context);
        const path = join(context.taskFolder, `segment-${segment}.mkv`);
        const inputs = `${await readFile(videoPath, 'utf8')} with ${await readFile(imagePath, 'utf8')}`;
        await writeFile(path, `segment ${segment} of ${inputs}\n`);
        return { segment, path, bytes: (await stat(path)).size, report: reportOf(plan, segment) };
      },
      stitch: async ({ segments }, context) => {
        await called('stitch');
        await wait(script.stitchMs ?? 0, context);
        const texts = await Promise.all(
          segments.toSorted((a, b) => a.segment - b.segment).map(({ path }) => readFile(path, 'utf8')),
        );
        return video(
          texts.join(''),
          'fullbody',
          segments.map(({ report }) => report),
          context,
        );
      },
    },
  };
}

/** Segments of a second each, with a second between them. */
function scriptedSwapPlan(count: number): SwapPlan {
  const segments = Array.from({ length: count }, (_, index) => ({
    index,
    first_frame: 2 * index * framesPerSegment,
    end_frame: (2 * index + 1) * framesPerSegment,
  }));
  return {
    version: 1,
    frame_count: 2 * count * framesPerSegment,
    timing: { kind: 'constant', rate: '25/1' },
    width: 640,
    height: 360,
    segments,
    identity: [],
    cut_frames: [],
    neutral_shape: [],
    notes: [],
  };
}

function reportOf({ segments }: SwapPlan, index: number): SegmentReport {
  const segment = segments[index];
  if (segment === undefined) throw new Error(`The plan has no segment ${index}.`);
  return { ...segment, frames_swapped: framesPerSegment - 1, frames_missed: 1, times };
}

async function video(
  text: string,
  mode: SwapReport['mode'],
  segments: readonly SegmentReport[],
  { taskFolder }: SwapContext,
): Promise<SwappedVideo> {
  const path = join(taskFolder, 'swapped.mp4');
  const contactSheetPath = join(taskFolder, 'swapped.png');
  await writeFile(path, text);
  await writeFile(contactSheetPath, 'frames');
  const report: SwapReport = {
    version: 1,
    engine: 'landmark',
    mode,
    frame_count: 2 * segments.length * framesPerSegment,
    frames_swapped: segments.reduce((sum, { frames_swapped: swapped }) => sum + swapped, 0),
    frames_missed: segments.length,
    segments,
    times,
    notes: [],
  };
  return {
    path,
    bytes: Buffer.byteLength(text),
    width: 640,
    height: 360,
    durationMs: 10_000,
    contactSheetPath,
    report,
  };
}

async function wait(ms: number, { signal }: SwapContext): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {
    throw new MediaFailure('ABORTED', 'The work was stopped.');
  });
}
