import { decibels, integrated, type LoudnessCurve, type MixMeasure, power } from './mix-measure.ts';

/** What platforms play at, in LUFS. */
const targetLufs = -14;
/** Beside loud music, or with little that is said, the source's own sound stays within these. */
const [quietestSource, loudestSource] = [-17, -12] as const;
/** Where the limiter begins, in dBFS; peaks lie between the samples too, and AAC adds some 0.5 dB. */
export const peakLimitDbfs = -1.8;
/** For each dB that peaks are held down the whole loses about this much, up to so much. */
const [lossPerDecibel, mostLoss] = [0.2, 1] as const;

/**
 * By how much, in dB, the source's sound is turned up so that it and the music together measure −14 LUFS. The
 * music stays at its part of its own level. 0 where the source has nothing to hear. Pure.
 */
export function sourceGain({ source, music }: MixMeasure): number {
  const own = source === null ? null : integrated(source.momentary);
  if (source === null || own === null) return 0;
  const gain = music === null ? targetLufs - own : gainBeside(source, music, own);
  const overshoot = Math.max(0, source.peakDbfs + gain - peakLimitDbfs);
  return gain + Math.min(mostLoss, overshoot * lossPerDecibel);
}

/** The two are not alike, so their powers add; halved until it is as near as it gets. */
function gainBeside(source: LoudnessCurve, music: LoudnessCurve, own: number): number {
  let [low, high] = [quietestSource - own, loudestSource - own];
  for (let step = 0; step < 20; step += 1) {
    const middle = (low + high) / 2;
    const loudness = integrated(together(source, music, middle)) ?? targetLufs;
    if (loudness < targetLufs) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function together(source: LoudnessCurve, music: LoudnessCurve, gain: number): readonly number[] {
  const length = Math.max(source.momentary.length, music.momentary.length);
  const at = (curve: LoudnessCurve, index: number): number => power(curve.momentary[index] ?? -120);
  return Array.from({ length }, (_, index) => decibels(at(source, index) * power(gain) + at(music, index)));
}
