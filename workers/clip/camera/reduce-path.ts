import type { Box, CameraKeyframe } from './camera-plan.ts';

const sides = ['x', 'y', 'width', 'height'] as const;

/**
 * Leaves out keyframes without which no side of the box is anywhere off by more than `tolerance` pixels
 * (Ramer, Douglas and Peucker's way). A path that does not move at all keeps one. Pure.
 */
export function reducePath(path: readonly CameraKeyframe[], tolerance = 0.5): readonly CameraKeyframe[] {
  const [first] = path;
  const last = path.at(-1);
  if (first === undefined || last === undefined) return path;
  if (path.every(({ box }) => difference(box, first.box) < 0.05)) return [first];
  const kept = new Set([0, path.length - 1]);
  const open: [number, number][] = [[0, path.length - 1]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const [from, to] = range;
    const worst = farthest(path, from, to);
    if (worst.off <= tolerance) continue;
    kept.add(worst.index);
    open.push([from, worst.index], [worst.index, to]);
  }
  return path.filter((_, index) => kept.has(index));
}

function farthest(path: readonly CameraKeyframe[], from: number, to: number): { index: number; off: number } {
  const [start, end] = [path[from], path[to]];
  let worst = { index: from, off: 0 };
  if (start === undefined || end === undefined) return worst;
  for (let index = from + 1; index < to; index += 1) {
    const at = path[index];
    if (at === undefined) continue;
    const off = difference(at.box, boxBetween(start, end, at.at_ms));
    if (off > worst.off) worst = { index, off };
  }
  return worst;
}

/** The box on the straight line between two keyframes. Pure. */
export function boxBetween(start: CameraKeyframe, end: CameraKeyframe, atMs: number): Box {
  const part = end.at_ms === start.at_ms ? 0 : (atMs - start.at_ms) / (end.at_ms - start.at_ms);
  const at = (side: keyof Box): number => start.box[side] + (end.box[side] - start.box[side]) * part;
  return { x: at('x'), y: at('y'), width: at('width'), height: at('height') };
}

function difference(a: Box, b: Box): number {
  return Math.max(...sides.map((side) => Math.abs(a[side] - b[side])));
}
