import type { Loudness } from '../loudness.ts';
import { lufsOf, type MixMeasure, measureNames } from './mix-measure.ts';

/** The parts of a clip's sound as they stand in an ffmpeg call. */
export type SoundMix = {
  /** The label of the cuts' sound, joined, in stereo at 48 kHz; null where the source has none. */
  readonly spoken: string | null;
  /** The music's number among the call's inputs; null without music. */
  readonly musicInput: number | null;
  /** The clip's length in samples of 48 kHz. */
  readonly samples: number;
};

const rate = 48_000;
/** What platforms play at. */
const targetLufs = -14;
/**
 * The interface's 30%: music is heard at this part of its file's own level. It is not normalised itself; what makes
 * the whole as loud as it should be is done to the source's sound.
 */
export const musicVolume = 0.3;
/** Loud music fills much of the target by itself: what is said never goes below this. */
const quietestSpeechLufs = -17;
const musicFadeSeconds = 1.5;
/** Peaks are held below this between the samples too; AAC may add some 0.5 dB. */
const peakLimit = 10 ** (-1.8 / 20);
/** Where peaks are found that lie between the samples of 48 kHz. */
const peakRate = 4 * rate;

/**
 * The first pass: what each part of the mix measures. `outputs` are labels to map, each to a null output; empty
 * where there is nothing to measure. Pure.
 */
export function measureChains(mix: SoundMix): {
  readonly chains: readonly string[];
  readonly outputs: readonly string[];
} {
  const parts = [
    ...(mix.spoken === null ? [] : [`[${mix.spoken}]${measured(measureNames.source)}[measuredsource]`]),
    ...(mix.musicInput === null
      ? []
      : [`${musicChain(mix, mix.musicInput)},${measured(measureNames.music)}[measuredmusic]`]),
  ];
  const outputs = [
    ...(mix.spoken === null ? [] : ['measuredsource']),
    ...(mix.musicInput === null ? [] : ['measuredmusic']),
  ];
  return { chains: parts, outputs };
}

function measured(name: string): string {
  return `${name}=I=${targetLufs}:TP=-1.5:LRA=11:print_format=json`;
}

/**
 * The second pass: `[sound]`, exactly as long as the clip. The source's sound is brought to where the whole
 * measures −14 LUFS; peaks over the limit are held down by a limiter and not, as loudnorm would, by riding the
 * gain, which makes music swell in every pause. Pure.
 */
export function mixChains(mix: SoundMix, measure: MixMeasure): readonly string[] {
  const length = `apad,atrim=end_sample=${mix.samples},asetpts=N/SR/TB`;
  const ending = `${limiter},${length},asetnsamples=n=1024:p=0[sound]`;
  const spoken = mix.spoken === null ? null : `[${mix.spoken}]${levelled(measure)}`;
  if (mix.musicInput === null) {
    return [`${spoken ?? `anullsrc=r=${rate}:cl=stereo,aformat=sample_fmts=fltp`},${ending}`];
  }
  const music = musicChain(mix, mix.musicInput);
  if (spoken === null) return [`${music},${ending}`];
  return [
    `${spoken},${length}[level]`,
    `${music},${length}[music]`,
    `[level][music]amix=inputs=2:duration=first:dropout_transition=0:normalize=0,${ending}`,
  ];
}

/** Up to the peaks' rate and back: what a converter makes of the samples is what must not clip. */
const limiter =
  `aresample=${peakRate},alimiter=limit=${peakLimit.toFixed(4)}:attack=5:release=60:level=false,` +
  `aresample=${rate},aformat=sample_fmts=fltp:channel_layouts=stereo`;

/** Music at its part of the level, repeated to the clip's length, and out before the end. */
function musicChain({ samples }: SoundMix, input: number): string {
  const end = samples / rate;
  const fade = Math.min(musicFadeSeconds, end / 4);
  return [
    `[${input}:a:0]aresample=${rate}:async=1000:first_pts=0`,
    'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `aloop=loop=-1:size=${samples}`,
    `atrim=end_sample=${samples}`,
    'asetpts=N/SR/TB',
    `volume=${musicVolume}`,
    `afade=t=out:st=${(end - fade).toFixed(3)}:d=${fade.toFixed(3)}`,
  ].join(',');
}

function levelled({ source, music }: MixMeasure): string {
  if (source === 'unusual') return `loudnorm=I=${targetLufs}:TP=-1.5:LRA=11,aresample=${rate}`;
  const gain = sourceGain(source, music);
  return `volume=${gain.toFixed(2)}dB`;
}

/** By how much, in dB, the source's sound is turned up so that it and the music together meet the target. Pure. */
export function sourceGain(source: Loudness, music: Loudness): number {
  const lufs = lufsOf(source);
  if (lufs === null) return 0;
  const power = (of: number | null): number => (of === null ? 0 : 10 ** (of / 10));
  const left = power(targetLufs) - power(lufsOf(music));
  const target = Math.max(quietestSpeechLufs, left > 0 ? 10 * Math.log10(left) : Number.NEGATIVE_INFINITY);
  return target - lufs;
}
