import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { parseEbur128 } from '#workers/clip/loudness.ts';
import { checkMusic } from '#workers/clip/sound/check-music.ts';
import { measureChains, mixChains, type SoundMix } from '#workers/clip/sound/mix-graph.ts';
import { type MixMeasure, readMixMeasure } from '#workers/clip/sound/mix-measure.ts';
import type { Figure } from './analysis-quality.ts';

/** How a clip of `seconds` sounds whose source and music begin with these files; null for none. */
export type SoundTrial = {
  readonly source: string | null;
  readonly music: string | null;
  readonly seconds: number;
};

export type HeardMix = {
  readonly lufs: number | null;
  readonly truePeakDbfs: number | null;
  /** What the music's samples are multiplied by, found again in the mix; null without music. */
  readonly musicShare: number | null;
  readonly measure: MixMeasure;
};

type Context = { readonly tools: MediaTools; readonly taskFolder: string; readonly signal: AbortSignal };

const rate = 48_000;
const wallMs = 120_000;
/** The end, over which music fades out, is left out of its measure. */
const fadeSeconds = 2;

/** Mixes a trial's sound as a render does, both passes, through AAC, and measures what comes out. */
export async function hearMix(trial: SoundTrial, context: Context): Promise<HeardMix> {
  const inputs = await inputsOf(trial, context);
  const mix: SoundMix = {
    spoken: trial.source === null ? null : 'spoken',
    musicInput: trial.music === null ? null : inputs.count - 1,
    samples: trial.seconds * rate,
  };
  const measuring = measureChains(mix);
  await run(context, [
    ...inputs.options,
    ...['-filter_complex', [...inputs.spoken, ...measuring.chains].join(';')],
    ...measuring.outputs.flatMap((label) => ['-map', `[${label}]`, '-f', 'null', '-']),
  ]);
  const measure = await readMixMeasure(context.taskFolder);
  const mixed = join(context.taskFolder, 'mixed.mp4');
  await run(context, [
    ...inputs.options,
    ...['-filter_complex', [...inputs.spoken, ...mixChains(mix, measure)].join(';'), '-map', '[sound]'],
    ...['-c:a', 'aac', '-b:a', '160k', '-y', '-f', 'mp4', mixed],
  ]);
  const loudness = await run(context, [
    ...(await guarded(mixed, context)),
    ...['-af', 'ebur128=framelog=verbose:peak=true', '-f', 'null', '-'],
  ]);
  const { lufs, truePeakDbfs } = parseEbur128(loudness);
  const musicShare = trial.music === null ? null : await shareIn(mixed, trial, context);
  return { lufs, truePeakDbfs, musicShare, measure };
}

async function inputsOf(
  { source, music, seconds }: SoundTrial,
  context: Context,
): Promise<{ options: readonly string[]; spoken: readonly string[]; count: number }> {
  if (music !== null) await checkMusic(music, context);
  const files = [source, music].filter((file) => file !== null);
  const options = await Promise.all(files.map((file) => guarded(file, context, seconds)));
  const spoken = `[0:a:0]aresample=${rate}:async=1000:first_pts=0,aformat=sample_fmts=fltp:channel_layouts=stereo,apad,atrim=end_sample=${seconds * rate}[spoken]`;
  return { options: options.flat(), spoken: source === null ? [] : [spoken], count: files.length };
}

async function guarded(path: string, context: Context, seconds?: number): Promise<readonly string[]> {
  const { type } = await probe(path, context);
  return [
    ...guardedInputOptions(type),
    ...(seconds === undefined ? [] : ['-t', String(seconds)]),
    '-i',
    inputUrl(path),
  ];
}

/** The mix is the source's sound times one figure and the music's times another: the second, by least squares. */
async function shareIn(mixed: string, trial: SoundTrial, context: Context): Promise<number> {
  const samples = (trial.seconds - fadeSeconds) * rate;
  const heard = (await decode(mixed, context, '')).subarray(0, samples);
  const music = await decode(trial.music ?? '', context, `aloop=loop=-1:size=${trial.seconds * rate},`);
  const source =
    trial.source === null ? new Float32Array(samples) : await decode(trial.source, context, 'apad,');
  const shares = lags.map((lag) => fitted(heard, source, music, lag));
  const [best] = shares.toSorted((a, b) => a.error - b.error);
  return best?.share ?? Number.NaN;
}

/** A limiter looks ahead by some milliseconds, and an encoder may shift sound a little, in samples. */
const lags = Array.from({ length: 81 }, (_, index) => index * 6);

function fitted(
  heard: Float32Array,
  source: Float32Array,
  music: Float32Array,
  lag: number,
): { share: number; error: number } {
  let [ss, mm, sm, hs, hm, hh] = [0, 0, 0, 0, 0, 0];
  for (let index = lag; index < heard.length; index += 3) {
    const [h = 0, s = 0, m = 0] = [heard[index], source[index - lag], music[index - lag]];
    ss += s * s;
    mm += m * m;
    sm += s * m;
    hs += h * s;
    hm += h * m;
    hh += h * h;
  }
  const determinant = ss * mm - sm * sm;
  const share = ss === 0 ? hm / mm : (hm * ss - hs * sm) / determinant;
  const gain = ss === 0 ? 0 : (hs * mm - hm * sm) / determinant;
  return { share, error: hh - share * hm - gain * hs };
}

async function decode(path: string, context: Context, filters: string): Promise<Float32Array> {
  const pieces: Buffer[] = [];
  const limit = 30;
  await run(
    context,
    [
      ...(await guarded(path, context)),
      ...[
        '-map',
        '0:a:0',
        '-af',
        `aresample=${rate},aformat=channel_layouts=stereo,${filters}pan=mono|c0=0.5*c0+0.5*c1`,
      ],
      ...['-t', String(limit), '-f', 'f32le', 'pipe:1'],
    ],
    (piece) => pieces.push(piece),
  );
  const bytes = Buffer.concat(pieces);
  return new Float32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4));
}

function run(context: Context, args: readonly string[], onStdout?: (piece: Buffer) => void): Promise<string> {
  const { tools, taskFolder: cwd, signal } = context;
  return runFfmpeg({ tools, cwd, signal, wallMs, args, ...(onStdout === undefined ? {} : { onStdout }) });
}

/** Speech and music of a media folder together, as figures beside their bars. */
export async function soundFigures(
  folder: string,
  trials: readonly SoundTrial[],
  context: Context,
): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { source, music, seconds } of trials) {
    const at = (file: string | null): string | null => (file === null ? null : join(folder, file));
    const taskFolder = await mkdtemp(join(context.taskFolder, 'mix-'));
    const heard = await hearMix(
      { source: at(source), music: at(music), seconds },
      { ...context, taskFolder },
    );
    const what = [source ?? 'no sound', music ?? 'no music'].join(' + ');
    const isNormalised = source !== null;
    figures.push({
      what: `${what}: loudness`,
      measured: `${heard.lufs} LUFS`,
      bar: isNormalised ? '-14 ± 1' : '',
    });
    figures.push({ what: `${what}: true peak`, measured: `${heard.truePeakDbfs} dBTP`, bar: '≤ -1' });
    if (heard.musicShare !== null)
      figures.push({ what: `${what}: music`, measured: heard.musicShare.toFixed(3), bar: '0.30 ± 0.03' });
  }
  return figures;
}
