import type { Span } from '../../media/speech/utterances.ts';

/** Values over time at equal steps, whose mean over any stretch costs the same however long it is. */
export class StepCurve {
  readonly #stepMs: number;
  /** sums[n]: of the first n values. */
  readonly #sums: Float64Array;

  constructor(values: ArrayLike<number>, stepMs: number) {
    this.#stepMs = stepMs;
    this.#sums = new Float64Array(values.length + 1);
    for (let at = 0; at < values.length; at += 1) {
      this.#sums[at + 1] = (this.#sums[at] ?? 0) + (values[at] ?? 0);
    }
  }

  /** The mean over a stretch, 0 beyond the curve's end. */
  mean(span: Span): number {
    const count = this.#sums.length - 1;
    const from = Math.max(0, Math.min(count, Math.floor(span.startMs / this.#stepMs)));
    const to = Math.max(from, Math.min(count, Math.ceil(span.endMs / this.#stepMs)));
    return to === from ? 0 : ((this.#sums[to] ?? 0) - (this.#sums[from] ?? 0)) / (to - from);
  }
}

/** How much of each step the spans cover, 0 to 1. Pure. */
export function coverage(spans: readonly Span[], durationMs: number, stepMs: number): Float64Array {
  const covered = new Float64Array(Math.ceil(durationMs / stepMs));
  for (const { startMs, endMs } of spans) {
    const last = Math.min(covered.length - 1, Math.floor((endMs - 1) / stepMs));
    for (let step = Math.max(0, Math.floor(startMs / stepMs)); step <= last; step += 1) {
      const overlap = Math.min(endMs, (step + 1) * stepMs) - Math.max(startMs, step * stepMs);
      covered[step] = Math.min(1, (covered[step] ?? 0) + overlap / stepMs);
    }
  }
  return covered;
}
