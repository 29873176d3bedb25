import type { Cut } from './choose/chosen-clip.ts';

/** A cut and where it plays: `frames` frames of the clip, the first of them at `clipStartMs`. */
export type PlayedCut = {
  readonly cut: Cut;
  readonly frames: number;
  readonly clipStartMs: number;
  readonly clipEndMs: number;
};

/**
 * When each cut plays in a clip of constant `rate` (as ffmpeg writes it, such as `30000/1001`): a whole number of
 * frames each, so that sound and picture of later cuts stay together. Pure.
 */
export function playedCuts(cuts: readonly Cut[], rate: string): readonly PlayedCut[] {
  const frameMs = 1000 / framesPerSecond(rate);
  let before = 0;
  return cuts.map((cut) => {
    const frames = Math.max(1, Math.round((cut.end_ms - cut.start_ms) / frameMs));
    const clipStartMs = before * frameMs;
    before += frames;
    return { cut, frames, clipStartMs, clipEndMs: before * frameMs };
  });
}

/** `30000/1001` or `25` as a number. Pure. */
export function framesPerSecond(rate: string): number {
  const [frames = 30, seconds = 1] = rate.split('/').map(Number);
  return frames / seconds;
}

/** How long the cuts play together, in milliseconds. Pure. */
export function playedMs(cuts: readonly Cut[]): number {
  return cuts.reduce((sum, cut) => sum + cut.end_ms - cut.start_ms, 0);
}

/** The moment of the source that plays `clipMs` after the clip's start. Pure. */
export function sourceTimeAt(cuts: readonly Cut[], clipMs: number): number {
  let leftMs = Math.max(0, clipMs);
  for (const cut of cuts) {
    const lengthMs = cut.end_ms - cut.start_ms;
    if (leftMs < lengthMs) return cut.start_ms + leftMs;
    leftMs -= lengthMs;
  }
  return cuts.at(-1)?.end_ms ?? 0;
}
