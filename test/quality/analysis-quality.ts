import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { analyseSource } from '#workers/media/analysis/analyse-source.ts';
import type { SoundAnalysis, SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import { measureSound } from '#workers/media/analysis/measure-sound.ts';
import { FaceFinder } from '#workers/media/faces/face-finder.ts';
import { bundledSpeech } from '#workers/media/speech/speech-settings.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { countFaces, seenShare } from './face-quality.ts';
import { type MediaFile, readManifest, readTruth } from './media-manifest.ts';
import { watchMemory } from './process-memory.ts';
import { type ErrorCount, programmeErrors, startErrors, summed, transcriptErrors } from './speech-quality.ts';

/** A measured figure beside the bar it should reach. */
export type Figure = { readonly what: string; readonly measured: string; readonly bar: string };

const hourMs = 3_600_000;
const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const models = await ModelStore.open();

/** Measures the analysis on a folder of media; `only` names files to measure, all where it is empty. */
export async function measureAnalysis(folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const files = (await readManifest(folder)).filter(
    ({ file, kind }) =>
      !file.startsWith('hostile/') &&
      !kind.startsWith('ground-truth') &&
      (only.length === 0 || only.some((part) => file.includes(part))),
  );
  return [
    ...(await recordings(folder, files)),
    ...(await pictures(folder, files)),
    ...(await videos(folder, files)),
  ];
}

async function recordings(folder: string, files: readonly MediaFile[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const counts: ErrorCount[] = [];
  const starts: number[] = [];
  for (const { file, transcript } of files.filter(({ kind }) => kind.startsWith('audio-'))) {
    const sound = await listenTo(join(folder, file));
    if (typeof transcript !== 'string') continue;
    if (transcript === '') {
      const heard = `${sound.words.length} words`;
      figures.push({ what: `${file}: nothing is said`, measured: heard, bar: '0 words' });
      continue;
    }
    const count = transcriptErrors(sound.words, transcript);
    counts.push(count);
    starts.push(...(await startErrors(file, sound.words)));
    figures.push({ what: `${file}: word errors`, measured: rate(count), bar: '' });
  }
  if (counts.length > 0) {
    figures.push({ what: 'recordings: word errors', measured: rate(summed(counts)), bar: '≤ 8%' });
  }
  return [...figures, ...startFigures('recordings', starts)];
}

async function pictures(folder: string, files: readonly MediaFile[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { file, faces } of files.filter(({ kind }) => kind.startsWith('image-'))) {
    // Each picture is a video of its own: nothing of the one before may be followed.
    const found = await countFaces(join(folder, file), await FaceFinder.open(models));
    figures.push({ what: `${file}: faces`, measured: String(found), bar: String(faces ?? '') });
  }
  return figures;
}

async function videos(folder: string, files: readonly MediaFile[]): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { file, faces, transcript } of files.filter(({ kind }) => kind.startsWith('video-'))) {
    const path = join(folder, file);
    const { analysis, wallMs, peakBytes } = await analysed(path);
    const minutes = analysis.duration_ms / 60_000;
    const took = `${(wallMs / 1000 / minutes).toFixed(1)} s a minute, ${Math.round(peakBytes / 1e6)} MB`;
    figures.push({ what: `${file}: time and memory`, measured: took, bar: '< 1500 MB' });
    const seen = seenShare(analysis.picture, faces === 2 ? 2 : 1);
    figures.push({ what: `${file}: frames with faces`, measured: percent(seen), bar: facesBar(faces) });
    figures.push(...(await spoken(file, path, analysis, transcript)));
  }
  return figures;
}

function facesBar(faces: MediaFile['faces']): string {
  if (faces === 0) return '0%';
  return faces === 2 || String(faces).startsWith('1') ? '≥ 95%' : '';
}

async function spoken(
  file: string,
  path: string,
  analysis: SourceAnalysis,
  transcript: MediaFile['transcript'],
): Promise<readonly Figure[]> {
  const words = analysis.sound?.words ?? [];
  const programme = await readTruth(path);
  if (programme === undefined) {
    if (typeof transcript !== 'string') return [];
    const count = transcriptErrors(words, transcript.replaceAll('/', ' '));
    return [{ what: `${file}: word errors`, measured: rate(count), bar: '' }];
  }
  const cuts = new Set(analysis.picture.cut_frames);
  const expected = programme.segments
    .slice(1)
    .map(({ start }) => Math.round(start * analysis.picture.frames_per_second));
  const found = expected.filter((frame) => [frame - 1, frame, frame + 1].some((near) => cuts.has(near)));
  const real = rate(programmeErrors(words, programme, 'real'));
  const synthetic = rate(programmeErrors(words, programme, 'synthetic'));
  return [
    { what: `${file}: cuts found`, measured: `${found.length} of ${expected.length}`, bar: 'all' },
    { what: `${file}: word errors, real speech`, measured: real, bar: '≤ 8%' },
    { what: `${file}: word errors, synthetic`, measured: synthetic, bar: '' },
    ...startFigures(file, await startErrors(file, words)),
  ];
}

async function listenTo(path: string): Promise<SoundAnalysis> {
  return inFolder(async (taskFolder) => {
    const signal = new AbortController().signal;
    const { type, audio } = await probe(path, { tools, taskFolder, signal });
    if (audio === null) throw new Error(`${path} has no sound.`);
    const order = {
      ...{ path, type, streamIndex: audio.index, mostMs: 4 * hourMs, wallMs: hourMs },
      speech: bundledSpeech,
    };
    return measureSound(order, { tools, taskFolder, signal, models, onMs: () => undefined });
  });
}

type Measured = { readonly analysis: SourceAnalysis; readonly wallMs: number; readonly peakBytes: number };

/** Analyses a video as a worker does, and says what it took. */
export async function analysed(
  path: string,
  onFraction: (fraction: number) => void = () => undefined,
): Promise<Measured> {
  return inFolder(async (taskFolder) => {
    const signal = new AbortController().signal;
    const media = await probe(path, { tools, taskFolder, signal });
    const memory = watchMemory();
    const started = performance.now();
    const analysis = await analyseSource(path, media, {
      ...{ tools, taskFolder, signal, onFraction },
      modelsFolder: undefined,
      maxSourceDurationMs: 4 * hourMs,
    });
    return { analysis, wallMs: performance.now() - started, ...memory.stop() };
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quality-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function startFigures(what: string, errors: readonly number[]): readonly Figure[] {
  if (errors.length === 0) return [];
  const sorted = errors.toSorted((a, b) => a - b);
  const at = (part: number): string => `${Math.round(sorted[Math.floor(sorted.length * part)] ?? 0)} ms`;
  return [
    { what: `${what}: word start error, median of ${errors.length}`, measured: at(0.5), bar: '≤ 80 ms' },
    { what: `${what}: word start error, 95 of 100`, measured: at(0.95), bar: '≤ 200 ms' },
  ];
}

function rate({ errors, words }: ErrorCount): string {
  return `${percent(errors / Math.max(1, words))} (${errors} of ${words})`;
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)}%`;
}
