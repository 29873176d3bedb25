/** How many frames before and after count: at 25 to 30 frames a second, a tenth of a second each way. */
export const reachFrames = 3;
const spreadFrames = 1.3;
/** Points that moved farther than this part of the eye distance, against their frame, are not the same moment. */
const stillShare = 0.03;

/**
 * A mesh smoothed by the frames before and after it: no delay, and lips that close for one frame only still
 * close, because what moves far counts little. `around` holds the meshes in order, `centre` is the one wanted. Pure.
 */
export function smoothedBothWays(
  around: readonly Float32Array[],
  centre: number,
  eyeDistance: number,
): Float32Array {
  const own = around[centre] as Float32Array;
  const still = Math.max(0.5, stillShare * eyeDistance);
  const out = new Float32Array(own.length);
  for (let at = 0; at < own.length; at += 3) {
    let total = 0;
    const sums = [0, 0, 0] as [number, number, number];
    for (const [index, mesh] of around.entries()) {
      const mirror = around[2 * centre - index];
      // Without its counterpart on the other side, a frame would pull a moving head to its own side.
      if (mirror === undefined) continue;
      const moved = Math.hypot(
        (mesh[at] as number) - (own[at] as number),
        (mesh[at + 1] as number) - (own[at + 1] as number),
      );
      const other = Math.hypot(
        (mirror[at] as number) - (own[at] as number),
        (mirror[at + 1] as number) - (own[at + 1] as number),
      );
      const away = (index - centre) / spreadFrames;
      const motion = Math.max(moved, other) / still;
      const weight = Math.exp(-0.5 * (away * away + (index === centre ? 0 : motion * motion)));
      total += weight;
      for (const axis of [0, 1, 2] as const) sums[axis] += weight * (mesh[at + axis] as number);
    }
    for (const axis of [0, 1, 2] as const) out[at + axis] = sums[axis] / total;
  }
  return out;
}
