import type { Box } from '../faces/rgb-frame.ts';
import type { FoundInset } from '../insets/inset-finder.ts';
import { areaBetweenBars, type DarkMargins } from '../shots/dark-margins.ts';
import type { PlacedSpan } from './analysis-schema.ts';
import type { PictureSampling } from './picture-sampling.ts';

type Video = PictureSampling & { readonly cutFrames: readonly number[]; readonly durationMs: number };

/** Bars of two shots that differ less, in parts of the side, are one frame around both. */
const sameArea = 0.012;

/**
 * What is shown between bars, for the dark margins of each sample: judged shot by shot, since one shot may be
 * dark at its edges for a while. Pure.
 */
export function barAreas(margins: readonly DarkMargins[], video: Video): readonly PlacedSpan[] {
  const starts = [0, ...video.cutFrames];
  const areas: { from: number; to: number; box: Box }[] = [];
  for (const [shot, from] of starts.entries()) {
    const to = starts[shot + 1] ?? Infinity;
    const own = margins.slice(Math.ceil(from / video.framesPerSample), Math.ceil(to / video.framesPerSample));
    const box = areaBetweenBars(own, video);
    if (box === undefined) continue;
    const before = areas.at(-1);
    if (before?.to === from && isSame(before.box, box, video)) {
      areas[areas.length - 1] = { ...before, to, box: common(before.box, box) };
    } else areas.push({ from, to, box });
  }
  return areas.map(({ from, to, box }) => placed(box, { from, to }, video));
}

/** The insets with their times. Pure. */
export function insetSpans(insets: readonly FoundInset[], video: Video): readonly PlacedSpan[] {
  const frame = (sample: number): number => sample * video.framesPerSample;
  return insets.map(({ from, to, box }) => placed(box, { from: frame(from), to: frame(to) }, video));
}

function isSame(a: Box, b: Box, { width, height }: Video): boolean {
  const across = Math.max(Math.abs(a.left - b.left), Math.abs(a.right - b.right));
  const down = Math.max(Math.abs(a.top - b.top), Math.abs(a.bottom - b.bottom));
  return across <= sameArea * width && down <= sameArea * height;
}

function common(a: Box, b: Box): Box {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

function placed(
  box: Box,
  frames: { readonly from: number; readonly to: number },
  { width, height, framesPerSecond, durationMs }: Video,
): PlacedSpan {
  const part = (pixels: number, side: number): number =>
    Math.min(10_000, Math.max(0, Math.round((pixels / side) * 10_000)));
  const ms = (frame: number): number => Math.min(durationMs, Math.round((frame / framesPerSecond) * 1000));
  return {
    start_ms: ms(frames.from),
    end_ms: ms(frames.to),
    left: part(box.left, width),
    top: part(box.top, height),
    right: part(box.right, width),
    bottom: part(box.bottom, height),
  };
}
