/** Numbers in [0, 1) that the seed decides, so that a failed run can be repeated. */
export type SeededRandom = () => number;

/** Mulberry32: small and good enough to shuffle and to choose moments. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
