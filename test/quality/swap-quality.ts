import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { readCanonicalMesh } from '#workers/media/faces/canonical-mesh.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import type { ChildContext } from '#workers/swap/child/child-context.ts';
import { scanVideo } from '#workers/swap/child/scan-work.ts';
import { swapFrames } from '#workers/swap/child/swap-frames.ts';
import type { SwapPlan } from '#workers/swap/contract.ts';
import { openSwapEngine } from '#workers/swap/engine/open-engine.ts';
import type { SwapEngine } from '#workers/swap/engine/swap-engine.ts';
import { FaceFollower } from '#workers/swap/faces/face-follower.ts';
import { type SourceFace, sourceFace } from '#workers/swap/image/source-face.ts';
import { landmarkSpace } from '#workers/swap/landmark/landmark-engine.ts';
import { BeforeAfterSheet } from '#workers/swap/video/before-after-sheet.ts';
import { encodeArguments } from '#workers/swap/video/encode-command.ts';
import { frameSink } from '#workers/swap/video/timed-frames.ts';
import { frameFormat, swappableVideo } from '#workers/swap/video/video-frames.ts';
import type { Figure } from './analysis-quality.ts';
import { cosine, type FaceEmbedder, openEmbedder } from './face-embedder.ts';
import { baselineEngine } from './swap-baseline.ts';
import { audioPackets, excerpt, measurePair, type PairMeasures, sampleDescriptor } from './swap-measures.ts';

const sources = [
  'face_astronaut.png',
  'face_lincoln_1863_bw.jpg',
  'face_man_dark_skin_seated.jpg',
  'face_man_smile.jpg',
  'face_old_man_moustache.jpg',
  'face_old_woman.jpg',
  'face_woman_glasses_3q.jpg',
];
const videos = [
  'talk_host_outdoor_720p.mp4',
  'talk_grid_man_glasses.mp4',
  'podcast_split_2p.mp4',
  'gaming_facecam_generated.mp4',
];
/** From where on each video shows its speaker. */
const measuredFrom = 3.2;
const measuredSeconds = 1.6;
const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const models = await ModelStore.open();

/**
 * Swaps each source face into each video, by the landmark engine in both qualities and by the plainest mesh warp
 * as a baseline, and measures them alike. `only` names sources or videos. Contact sheets go to the system's
 * temporary folder.
 */
export async function measureSwaps(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const chosen = (names: readonly string[]): readonly string[] => {
    const named = names.filter((name) => only.some((part) => name.includes(part)));
    return named.length > 0 ? named : names;
  };
  const embedder = await openEmbedder();
  const sheets = join(tmpdir(), 'clipledger-swaps');
  await mkdir(sheets, { recursive: true });
  const figures: Figure[] = [];
  for (const video of chosen(videos)) {
    for (const source of chosen(sources)) {
      const pair = { video: join(folder, 'video', video), source: join(folder, 'faces', source) };
      figures.push(...(await inFolder((context) => pairFigures(pair, embedder, sheets, context))));
    }
  }
  return [...figures, { what: 'contact sheets', measured: sheets, bar: 'looked at' }];
}

type Pair = { readonly video: string; readonly source: string };

async function pairFigures(
  pair: Pair,
  embedder: FaceEmbedder,
  sheets: string,
  context: ChildContext,
): Promise<readonly Figure[]> {
  const cut = join(context.taskFolder, 'source.mp4');
  await excerpt(pair.video, { fromSeconds: measuredFrom, seconds: measuredSeconds, to: cut }, context);
  const plan = await scanVideo({ videoPath: cut, maxDurationMs: 300_000 }, context);
  const source = await sourceFace(pair.source, models);
  const space = landmarkSpace(await readCanonicalMesh(models));
  const settings = { engine: 'landmark', label: null, isLicenceAcknowledged: false } as const;
  const name = `${basename(pair.source).replace(/\..*$/, '')} in ${basename(pair.video).replace(/\..*$/, '')}`;
  const ways = [
    { way: 'baseline', quality: 'fast', open: async () => baselineEngine(source, space.grids) },
    { way: 'face', quality: 'fast', open: () => openSwapEngine(settings, models, source, plan) },
    { way: 'fullbody', quality: 'high', open: () => openSwapEngine(settings, models, source, plan) },
  ] as const;
  const target = await sampleDescriptor(cut, plan, embedder, context);
  const wanted = await embedder(source.frame, { points: source.points, presence: 1 });
  const figures: Figure[] = [];
  for (const { way, quality, open } of ways) {
    const result = join(context.taskFolder, `${way}.mp4`);
    const sheetPath = join(sheets, `${name.replaceAll(' ', '_')}_${way}.png`);
    const done = await swapped(
      { cut, result, plan, source, quality, engine: await open(), sheetPath },
      context,
    );
    const measures = await measurePair({ before: cut, after: result, plan }, context);
    const descriptor = await sampleDescriptor(result, plan, embedder, context);
    const sound = (await audioPackets(cut, context)) === (await audioPackets(result, context));
    figures.push(
      ...described(`${name}, ${way}`, {
        ...measures,
        ...done,
        toSource: cosine(descriptor, wanted),
        toTarget: cosine(descriptor, target),
        before: cosine(target, wanted),
        sound,
      }),
    );
  }
  return figures;
}

type Swap = {
  readonly cut: string;
  readonly result: string;
  readonly plan: SwapPlan;
  readonly source: SourceFace;
  readonly quality: 'fast' | 'high';
  readonly engine: SwapEngine;
  readonly sheetPath: string;
};

async function swapped(
  swap: Swap,
  context: ChildContext,
): Promise<{ readonly coverage: number; readonly msPerFrame: number }> {
  const { cut, result, plan, quality, engine } = swap;
  const media = await probe(cut, context);
  const video = swappableVideo(media);
  const format = frameFormat(video);
  const sink = frameSink(plan.timing, format, 0);
  const sheet = new BeforeAfterSheet(plan.segments);
  const { segments, times } = await swapFrames(
    {
      source: { path: cut, media, video },
      ...{ plan, format, sink, quality, engine },
      range: { first_frame: 0, end_frame: plan.frame_count },
      follower: await FaceFollower.open(models),
      wallMs: 600_000,
      encodeArguments: encodeArguments({
        path: cut,
        media,
        format,
        sink,
        labelFile: undefined,
        outputPath: result,
      }),
      onFrame: async (side, number, frame) => {
        if (sheet.wants(number)) await sheet.add(side, number, frame);
      },
    },
    context,
  );
  await engine.close();
  await sheet.write(swap.sheetPath, () => 0);
  const sum = (of: (segment: (typeof segments)[number]) => number): number =>
    segments.reduce((total, each) => total + of(each), 0);
  const swappedFrames = sum(({ frames_swapped }) => frames_swapped);
  return {
    coverage: swappedFrames / Math.max(1, swappedFrames + sum(({ frames_missed }) => frames_missed)),
    msPerFrame: times.wall_ms / plan.frame_count,
  };
}

function described(
  what: string,
  measures: PairMeasures & {
    readonly coverage: number;
    readonly msPerFrame: number;
    readonly toSource: number;
    readonly toTarget: number;
    readonly before: number;
    readonly sound: boolean;
  },
): readonly Figure[] {
  const figure = (name: string, measured: string, bar: string): Figure => ({
    what: `${what}: ${name}`,
    measured,
    bar,
  });
  return [
    figure(
      'identity, cosine to source / target (before)',
      `${measures.toSource.toFixed(3)} / ${measures.toTarget.toFixed(3)} (${measures.before.toFixed(3)})`,
      'source above target',
    ),
    figure('expression error, of the eye distance', measures.expressionError.toFixed(3), '≤ 0.05'),
    figure('frames swapped', `${(measures.coverage * 100).toFixed(1)}%`, '≥ 98%'),
    figure('change from frame to frame, of the original’s', measures.flicker.toFixed(2), '≤ 1.25'),
    figure('PSNR outside', `${measures.psnrOutside.toFixed(1)} dB`, '≥ 40 dB'),
    figure('frames', `${measures.framesAfter} of ${measures.framesBefore}`, 'equal'),
    figure('audio packets', measures.sound ? 'identical' : 'different', 'identical'),
    figure('time', `${measures.msPerFrame.toFixed(0)} ms a frame`, ''),
  ];
}

async function inFolder<T>(work: (context: ChildContext) => Promise<T>): Promise<T> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'swap-quality-'));
  const signal = new AbortController().signal;
  try {
    return await work({ tools, taskFolder, signal, models, onDone: () => undefined });
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}
