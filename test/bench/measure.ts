/** What one contender did in all its rounds of one line. */
export type Measured = { operations: number; seconds: number; readonly latenciesMs: number[] };

export const nothingMeasured = (): Measured => ({ operations: 0, seconds: 0, latenciesMs: [] });

/** Calls `operation` with so many at once for so long, and adds what happened to `into`. */
export async function measure(
  operation: () => Promise<unknown>,
  {
    inFlight,
    seconds,
    into,
  }: { readonly inFlight: number; readonly seconds: number; readonly into: Measured },
): Promise<void> {
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (let from = performance.now(); from < endsAt; ) {
        await operation();
        const to = performance.now();
        into.latenciesMs.push(to - from);
        from = to;
      }
    }),
  );
  into.operations = into.latenciesMs.length;
  into.seconds += (performance.now() - startedAt) / 1_000;
}

export const perSecond = ({ operations, seconds }: Measured): number => operations / seconds;

/** The latency that the given share of operations stayed under. */
export function percentileMs({ latenciesMs }: Measured, share: number): number {
  const sorted = Float64Array.from(latenciesMs).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
