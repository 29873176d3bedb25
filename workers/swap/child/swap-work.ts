import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { probe } from '#infra/media/probe.ts';
import type { SegmentReport, StageTimes, SwapPlan } from '../contract.ts';
import { openSwapEngine } from '../engine/open-engine.ts';
import { FaceFollower } from '../faces/face-follower.ts';
import { sourceFace } from '../image/source-face.ts';
import { BeforeAfterSheet } from '../video/before-after-sheet.ts';
import { encodeArguments, intermediateArguments } from '../video/encode-command.ts';
import { ticksPerSecond } from '../video/exact-rate.ts';
import { frameSink } from '../video/timed-frames.ts';
import { frameFormat, swappableVideo } from '../video/video-frames.ts';
import type { ChildContext } from './child-context.ts';
import type { SwapAnswers, SwapOrder } from './run-swap-child.ts';
import { scanVideo } from './scan-work.ts';
import { stitchFrames } from './stitch-frames.ts';
import { framesPerSecond, swapFrames } from './swap-frames.ts';

const labelFile = 'label.txt';

/** Does what a call's order says. Throws `MediaFailure` and `ModelUnusable`. */
export async function doWork(
  order: SwapOrder,
  context: ChildContext,
): Promise<SwapAnswers[SwapOrder['kind']]> {
  switch (order.kind) {
    case 'examine':
      return (await sourceFace(order.imagePath, context.models)).examined;
    case 'scan':
      return scanVideo(order, context);
    case 'swap':
      return swap(order, context);
    case 'stitch':
      return { times: await stitch(order, context) };
  }
}

async function swap(
  order: Extract<SwapOrder, { kind: 'swap' }>,
  context: ChildContext,
): Promise<{ readonly segments: readonly SegmentReport[]; readonly times: StageTimes }> {
  const { plan, settings, outputPath } = order;
  const setup = await prepare(order, context);
  const source = await sourceFace(order.imagePath, context.models);
  const engine = await openSwapEngine(settings, context.models, source, plan);
  const segment = plan.segments.find(({ index }) => index === order.segment);
  const range = segment ?? { first_frame: 0, end_frame: plan.frame_count };
  // A segment's times are the stitching's matter: its frames only need their order.
  const timing = segment === undefined ? plan.timing : { kind: 'constant' as const, rate: '25/1' };
  const sink = frameSink(timing, setup.format, range.first_frame);
  const sheet = new BeforeAfterSheet(plan.segments);
  try {
    const done = await swapFrames(
      {
        source: { path: order.videoPath, media: setup.media, video: setup.video },
        ...{ plan, range, sink, engine },
        format: setup.format,
        follower: await FaceFollower.open(context.models),
        quality: segment === undefined ? 'fast' : 'high',
        wallMs: order.wallMs,
        encodeArguments:
          segment === undefined
            ? encodeArguments({ ...setup.encode, sink, outputPath })
            : intermediateArguments({ sink, outputPath }),
        onFrame: async (side, number, frame) => {
          if (segment === undefined && sheet.wants(number)) await sheet.add(side, number, frame);
        },
      },
      context,
    );
    if (segment === undefined) await sheet.write(order.sheetPath, (frame) => timeMs(plan, frame));
    return done;
  } finally {
    await engine.close();
  }
}

async function stitch(
  order: Extract<SwapOrder, { kind: 'stitch' }>,
  context: ChildContext,
): Promise<StageTimes> {
  const { plan, segments, outputPath } = order;
  const setup = await prepare(order, context);
  const sink = frameSink(plan.timing, setup.format, 0);
  const sheet = new BeforeAfterSheet(plan.segments);
  const times = await stitchFrames(
    {
      source: { path: order.videoPath, media: setup.media, video: setup.video },
      ...{ plan, segments, sink },
      format: setup.format,
      wallMs: order.wallMs,
      encodeArguments: encodeArguments({ ...setup.encode, sink, outputPath }),
      onFrame: async (side, number, frame) => {
        if (sheet.wants(number)) await sheet.add(side, number, frame);
      },
    },
    context,
  );
  await sheet.write(order.sheetPath, (frame) => timeMs(plan, frame));
  return times;
}

/** What both finished videos are made with. */
async function prepare(order: Extract<SwapOrder, { kind: 'swap' | 'stitch' }>, context: ChildContext) {
  const media = await probe(order.videoPath, context);
  const video = swappableVideo(media);
  const format = frameFormat(video);
  const { label } = order.settings;
  if (label !== null) await writeFile(join(context.taskFolder, labelFile), label);
  const encode = { path: order.videoPath, media, format, labelFile: label === null ? undefined : labelFile };
  return { media, video, format, encode };
}

function timeMs(plan: SwapPlan, frame: number): number {
  if (plan.timing.kind === 'variable') return ((plan.timing.times[frame] ?? 0) / ticksPerSecond) * 1000;
  return (frame / framesPerSecond(plan)) * 1000;
}
