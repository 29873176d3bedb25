/** A source of numbers that a seed repeats (mulberry32). */
export type Random = Readonly<{
  /** From 0 up to 1. */
  next: () => number;
  /** A whole number from 0 to `limit - 1`. */
  below: (limit: number) => number;
  uuid: () => string;
}>;

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const hexDigits = (count: number) =>
    Array.from({ length: count }, () => Math.floor(next() * 16).toString(16)).join('');
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    uuid: () => `${hexDigits(8)}-${hexDigits(4)}-4${hexDigits(3)}-8${hexDigits(3)}-${hexDigits(12)}`,
  };
}
