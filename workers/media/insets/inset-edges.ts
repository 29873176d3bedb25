import type { Box } from '../faces/rgb-frame.ts';
import type { MeanPicture } from './temporal-mean.ts';

/** Neighbouring pixels of the mean differ by this much (of 255) at the edge of something laid over the video. */
const leastStep = 7;
/** ... or change so differently. */
const leastChangeStep = 3;
/** Best lines of each side that are tried together. */
const linesTried = 10;
/** A side is an edge over this much of its length at least; all inner sides together over more. */
const leastSideSupport = 0.55;
const leastMeanSupport = 0.72;
/** Lines beside an inset are less of an edge by so much: in a sharp still, edges are everywhere. */
const leastContrast = 0.3;
/** ... at these distances outside of it, in pixels of the mean. */
const outside = [5, 7, 9];
/** A living face changes at least so much (of 255) from sample to sample; one in a photograph does not. */
const leastLiveliness = 0.9;
/** An inset takes no more of the picture. */
const mostWidth = 0.5;
const mostHeight = 0.62;
const mostArea = 0.25;
/** ... and has such a shape, width by height. */
const shapes = { least: 0.5, most: 2.4 };
/** It lies this near to an edge of the picture, in parts of the picture's width. */
const mostDistance = 0.07;
/** A line this near to the picture's edge, in pixels of the mean, is that edge. */
const atBorder = 2;

/** An inset and how much of its inner sides are edges, 0 to 1. */
export type InsetEdges = { readonly box: Box; readonly support: number };

/**
 * The rectangle around `face` whose sides are edges of the mean picture: where a camera's picture is laid over
 * another. Undefined where there is none: what merely surrounds a person has no four straight sides. All in
 * pixels of the mean. Pure.
 */
export function insetAround(face: Box, picture: MeanPicture): InsetEdges | undefined {
  if (meanChange(face, picture) < leastLiveliness) return undefined;
  const map = edgeMap(picture);
  const [width, height] = [face.right - face.left, face.bottom - face.top];
  const rows = { from: face.top, to: face.bottom };
  const columns = { from: face.left, to: face.right };
  const lefts = bestLines(map.vertical, rows, { from: face.left - 3 * width, to: face.left - 0.05 * width });
  const rights = bestLines(map.vertical, rows, {
    from: face.right + 0.05 * width,
    to: face.right + 3 * width,
  });
  const tops = bestLines(map.horizontal, columns, { from: face.top - 1.5 * height, to: face.top });
  const bottoms = bestLines(map.horizontal, columns, { from: face.bottom, to: face.bottom + 3 * height });
  let best: InsetEdges | undefined;
  for (const left of lefts) {
    for (const right of rights) {
      for (const top of tops) {
        for (const bottom of bottoms) {
          const box = { left, top, right, bottom };
          if (!isInsetShape(box, picture)) continue;
          const support = supportOf(box, map, picture);
          if (support !== undefined && support > (best?.support ?? 0)) best = { box, support };
        }
      }
    }
  }
  return best;
}

function meanChange(box: Box, { width, height, change }: MeanPicture): number {
  let [sum, count] = [0, 0];
  for (let y = Math.max(0, Math.round(box.top)); y < Math.min(height, box.bottom); y += 1) {
    for (let x = Math.max(0, Math.round(box.left)); x < Math.min(width, box.right); x += 1) {
      // Green is most of what the eye sees as brightness.
      sum += change[(y * width + x) * 3 + 1] as number;
      count += 1;
    }
  }
  return count === 0 ? 0 : sum / count;
}

/** Sums along lines: `at(line, position)` counts the edge pixels of a line before a position. */
type Lines = { readonly count: number; readonly length: number; readonly sums: Uint16Array };
type EdgeMap = { readonly vertical: Lines; readonly horizontal: Lines };

function edgeMap(picture: MeanPicture): EdgeMap {
  const { width, height } = picture;
  const vertical = { count: width + 1, length: height, sums: new Uint16Array((width + 1) * (height + 1)) };
  const horizontal = { count: height + 1, length: width, sums: new Uint16Array((height + 1) * (width + 1)) };
  for (let x = 1; x < width; x += 1) {
    for (let y = 0; y < height; y += 1) {
      const isEdge = differs(picture, y * width + x - 1, y * width + x);
      const at = x * (height + 1) + y;
      vertical.sums[at + 1] = (vertical.sums[at] as number) + (isEdge ? 1 : 0);
    }
  }
  for (let y = 1; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isEdge = differs(picture, (y - 1) * width + x, y * width + x);
      const at = y * (width + 1) + x;
      horizontal.sums[at + 1] = (horizontal.sums[at] as number) + (isEdge ? 1 : 0);
    }
  }
  return { vertical, horizontal };
}

function differs({ mean, change }: MeanPicture, a: number, b: number): boolean {
  for (let channel = 0; channel < 3; channel += 1) {
    const [one, other] = [a * 3 + channel, b * 3 + channel];
    if (Math.abs((mean[one] as number) - (mean[other] as number)) >= leastStep) return true;
    if (Math.abs((change[one] as number) - (change[other] as number)) >= leastChangeStep) return true;
  }
  return false;
}

type Range = { readonly from: number; readonly to: number };

/** The lines within `where` that are most of an edge along `along`, and the picture's own edge where it is near. */
function bestLines(lines: Lines, along: Range, where: Range): readonly number[] {
  const first = Math.max(1, Math.round(where.from));
  const last = Math.min(lines.count - 2, Math.round(where.to));
  const ranked: { line: number; share: number }[] = [];
  for (let line = first; line <= last; line += 1) ranked.push({ line, share: edgeShare(lines, line, along) });
  const best = ranked
    .sort((a, b) => b.share - a.share)
    .slice(0, linesTried)
    .filter(({ share }) => share >= leastSideSupport);
  const borders = [0, lines.count - 1].filter((line) => line >= where.from && line <= where.to);
  return [...best.map(({ line }) => line), ...borders];
}

/** The part of a line between two positions that is an edge. */
function edgeShare({ sums, length, count }: Lines, line: number, { from, to }: Range): number {
  const [start, end] = [Math.max(0, Math.round(from)), Math.min(length, Math.round(to))];
  if (end <= start || line < 0 || line >= count) return 0;
  const row = line * (length + 1);
  return ((sums[row + end] as number) - (sums[row + start] as number)) / (end - start);
}

function isInsetShape({ left, top, right, bottom }: Box, { width, height }: MeanPicture): boolean {
  const [across, down] = [right - left, bottom - top];
  if (across > mostWidth * width || down > mostHeight * height) return false;
  if (across * down > mostArea * width * height) return false;
  const shape = across / down;
  if (shape < shapes.least || shape > shapes.most) return false;
  return Math.min(left, top, width - right, height - bottom) <= mostDistance * width;
}

/** How much of the sides inside the picture are edges; undefined where a side is none, or too few are inside. */
function supportOf(box: Box, map: EdgeMap, { width, height }: MeanPicture): number | undefined {
  const rows = { from: box.top, to: box.bottom };
  const columns = { from: box.left, to: box.right };
  const sides = [
    ...(box.left > atBorder ? [side(map.vertical, box.left, rows, -1)] : []),
    ...(box.right < width - atBorder ? [side(map.vertical, box.right, rows, 1)] : []),
    ...(box.top > atBorder ? [side(map.horizontal, box.top, columns, -1)] : []),
    ...(box.bottom < height - atBorder ? [side(map.horizontal, box.bottom, columns, 1)] : []),
  ];
  if (sides.length < 2) return undefined;
  if (sides.some(({ share, beside }) => share < leastSideSupport || share - beside < leastContrast)) {
    return undefined;
  }
  const mean = sides.reduce((sum, { share }) => sum + share, 0) / sides.length;
  return mean >= leastMeanSupport ? mean : undefined;
}

/** How much of a side is an edge, and how much of the lines outside of it are. */
function side(lines: Lines, line: number, along: Range, outwards: 1 | -1): { share: number; beside: number } {
  const shares = outside
    .map((distance) => line + outwards * distance)
    .filter((each) => each > 0 && each < lines.count - 1)
    .map((each) => edgeShare(lines, each, along));
  const beside = shares.reduce((sum, share) => sum + share, 0) / Math.max(1, shares.length);
  return { share: edgeShare(lines, line, along), beside };
}
