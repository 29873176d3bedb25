import { type MixMeasure, measureFiles } from './mix-measure.ts';
import { peakLimitDbfs, sourceGain } from './source-gain.ts';

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
/**
 * The interface's 30%: music is heard at this part of its file's own level. It is not normalised itself; what makes
 * the whole as loud as it should be is done to the source's sound.
 */
const musicVolume = 0.3;
const musicFadeSeconds = 1.5;
/** Where peaks are found that lie between the samples of 48 kHz. */
const peakRate = 4 * rate;

/**
 * The first pass: how loud each part of the mix is as it goes on, written to `measureFiles` in the folder in which
 * ffmpeg runs. `outputs` are labels to map, each to a null output; empty where there is nothing to measure. Pure.
 */
export function measureChains(mix: SoundMix): {
  readonly chains: readonly string[];
  readonly outputs: readonly string[];
} {
  const parts = [
    ...(mix.spoken === null ? [] : [{ chain: `[${mix.spoken}]`, part: 'source' as const }]),
    ...(mix.musicInput === null
      ? []
      : [{ chain: `${musicChain(mix, mix.musicInput)},`, part: 'music' as const }]),
  ];
  return {
    chains: parts.map(({ chain, part }) => `${chain}${measuring(measureFiles[part])}[measured${part}]`),
    outputs: parts.map(({ part }) => `measured${part}`),
  };
}

function measuring(file: string): string {
  return `ebur128=metadata=1:peak=sample:framelog=verbose,ametadata=mode=print:file=${file}`;
}

/**
 * The second pass: `[sound]`, exactly as long as the clip. The source's sound is brought to where the whole
 * measures −14 LUFS; peaks over the limit are held down by a limiter and not, as loudnorm would, by riding the
 * gain, which makes music swell in every pause. Pure.
 */
export function mixChains(mix: SoundMix, measure: MixMeasure): readonly string[] {
  const length = `apad,atrim=end_sample=${mix.samples},asetpts=N/SR/TB`;
  const ending = `${limiter},${length},asetnsamples=n=1024:p=0[sound]`;
  const spoken = mix.spoken === null ? null : `[${mix.spoken}]volume=${sourceGain(measure).toFixed(2)}dB`;
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
  `aresample=${peakRate},alimiter=limit=${(10 ** (peakLimitDbfs / 20)).toFixed(4)}:attack=5:release=60:level=false,` +
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
