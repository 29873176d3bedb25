import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import type { ChildContext } from '#workers/swap/child/child-context.ts';
import { scanVideo } from '#workers/swap/child/scan-work.ts';
import { swapFrames } from '#workers/swap/child/swap-frames.ts';
import type { StageTimes, SwapPlan } from '#workers/swap/contract.ts';
import { openSwapEngine } from '#workers/swap/engine/open-engine.ts';
import { FaceFollower } from '#workers/swap/faces/face-follower.ts';
import { sourceFace } from '#workers/swap/image/source-face.ts';
import { encodeArguments } from '#workers/swap/video/encode-command.ts';
import { frameSink } from '#workers/swap/video/timed-frames.ts';
import { decodeArguments, frameFormat, swappableVideo } from '#workers/swap/video/video-frames.ts';

const sample = resolve(import.meta.dirname, '../../infra/sample/talk.mp4');
/** A moment of the sample with its speaker large in the picture. */
const sampleStart = '9';
const heights = [360, 720, 1080] as const;
const run = promisify(execFile);
const tools = await locateMediaTools({}, process.env['PATH'] ?? '');

/** Prints frames a second of both modes at several sizes, beside the same frames decoded and encoded alone. */
export async function benchSwaps(options: {
  readonly seconds: number;
  readonly source: string | undefined;
}): Promise<void> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'swap-bench-'));
  const models = await ModelStore.open();
  const signal = new AbortController().signal;
  const context: ChildContext = { tools, taskFolder, signal, models, onDone: () => undefined };
  try {
    const imagePath = join(taskFolder, 'face.png');
    await ffmpeg('-ss', sampleStart, '-i', sample, '-frames:v', '1', imagePath);
    for (const height of heights) {
      const path = join(taskFolder, `${height}.mp4`);
      const start = options.source === undefined ? sampleStart : '0';
      await ffmpeg(
        ...[
          '-ss',
          start,
          '-i',
          options.source ?? sample,
          '-t',
          String(options.seconds),
          '-vf',
          `scale=-2:${height}`,
        ],
        ...['-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '16', '-an', path],
      );
      await benchSize({ path, imagePath, height }, context);
    }
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}

async function benchSize(
  size: { readonly path: string; readonly imagePath: string; readonly height: number },
  context: ChildContext,
): Promise<void> {
  const { path } = size;
  const scanFrom = performance.now();
  const plan = await scanVideo({ videoPath: path, maxDurationMs: 300_000 }, context);
  line(`${size.height} lines: scan`, plan.frame_count, performance.now() - scanFrom);
  const media = await probe(path, context);
  const video = swappableVideo(media);
  const format = frameFormat(video);
  const outputPath = join(context.taskFolder, 'out.mp4');
  const order = () => {
    const sink = frameSink(plan.timing, format, 0);
    const encode = encodeArguments({ path, media, format, sink, labelFile: undefined, outputPath });
    return { sink, encodeArguments: encode };
  };
  const alone = await bare(decodeArguments({ path, media, video }, undefined), order().encodeArguments);
  line(`${size.height} lines: decode and encode alone`, plan.frame_count, alone);
  for (const [mode, quality] of [
    ['face', 'fast'],
    ['fullbody', 'high'],
  ] as const) {
    const source = await sourceFace(size.imagePath, context.models);
    const settings = { engine: 'landmark', label: null, isLicenceAcknowledged: false } as const;
    const engine = await openSwapEngine(settings, context.models, source, plan);
    const { times } = await swapFrames(
      {
        source: { path, media, video },
        ...{ plan, format, engine, quality, ...order() },
        range: { first_frame: 0, end_frame: plan.frame_count },
        follower: await FaceFollower.open(context.models),
        wallMs: 600_000,
        onFrame: async () => undefined,
      },
      context,
    );
    await engine.close();
    line(`${size.height} lines: ${mode}`, plan.frame_count, times.wall_ms, stages(times, plan));
  }
}

function stages(times: StageTimes, { frame_count }: SwapPlan): string {
  const each = (ms: number): string => (ms / frame_count).toFixed(1);
  return (
    `ms a frame: waiting for decode ${each(times.decode_ms)}, detect ${each(times.detect_ms)}, mesh ${each(times.mesh_ms)}, ` +
    `light ${each(times.warp_ms)}, draw ${each(times.blend_ms)}, waiting for encode ${each(times.encode_ms)}`
  );
}

function line(what: string, frames: number, ms: number, more = ''): void {
  console.log(`${what.padEnd(38)} ${((frames * 1000) / ms).toFixed(1).padStart(6)} frames/s  ${more}`);
}

/** The two ffmpegs of a swap with a plain pipe between: the limit of any engine. */
async function bare(decode: readonly string[], encode: readonly string[]): Promise<number> {
  const from = performance.now();
  const quoted = (args: readonly string[]): string =>
    args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`).join(' ');
  await run('/bin/sh', [
    '-c',
    `${tools.ffmpegPath} ${quoted(decode)} | ${tools.ffmpegPath} ${quoted(encode)}`,
  ]);
  return performance.now() - from;
}

async function ffmpeg(...args: readonly string[]): Promise<void> {
  await run(tools.ffmpegPath, ['-v', 'error', '-y', ...args]);
}
