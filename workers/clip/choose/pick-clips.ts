import type { Span } from '../../media/speech/utterances.ts';

/** Something that can be picked. */
type Pickable = Span & { readonly total: number };

/** How much a pick loses for lying right beside another one. */
const crowdingPenalty = 0.12;

/**
 * Takes the best candidate, then again and again the best that overlaps none of the taken, with a penalty
 * for crowding so that the picks spread over the source. May find fewer than there are room for. Pure.
 */
export function spreadPicks<Each extends Pickable>(
  candidates: readonly Each[],
  count: number,
  durationMs: number,
): readonly Each[] {
  const reachMs = durationMs / (count * 2);
  const picks: Each[] = [];
  let left = candidates;
  while (picks.length < count && left.length > 0) {
    const next = left.reduce((best, each) =>
      worth(each, picks, reachMs) > worth(best, picks, reachMs) ? each : best,
    );
    picks.push(next);
    left = left.filter((each) => each.endMs <= next.startMs || each.startMs >= next.endMs);
  }
  return picks;
}

function worth(segment: Pickable, picks: readonly Pickable[], reachMs: number): number {
  const nearest = picks.reduce((least, pick) => {
    const gapMs = Math.max(pick.startMs - segment.endMs, segment.startMs - pick.endMs);
    return Math.min(least, gapMs);
  }, Number.POSITIVE_INFINITY);
  return segment.total - crowdingPenalty * Math.exp(-Math.max(0, nearest) / reachMs);
}

/** The best way to so many picks from the first candidates: its worth and the last pick, linked backwards. */
type Chain<Each> = {
  readonly worth: number;
  readonly last: Each;
  readonly before: Chain<Each> | undefined;
};

/**
 * As many candidates as fit without overlap, up to `count`, and among those ways the one with the highest
 * total score (weighted interval scheduling). Pure.
 */
export function mostApart<Each extends Pickable>(
  candidates: readonly Each[],
  count: number,
): readonly Each[] {
  const byEnd = candidates.toSorted((a, b) => a.endMs - b.endMs);
  // before[i]: how many candidates end at or before the start of candidate i.
  const before = byEnd.map((candidate) => countEndingBy(byEnd, candidate.startMs));
  let best: (Chain<Each> | undefined)[] = [];
  let longest: Chain<Each> | undefined;
  for (let picks = 1; picks <= count; picks += 1) {
    const next: (Chain<Each> | undefined)[] = [undefined];
    for (const [index, candidate] of byEnd.entries()) {
      const previous = picks === 1 ? undefined : best[before[index] ?? 0];
      const reachable = picks === 1 || previous !== undefined;
      const total = (previous?.worth ?? 0) + candidate.total;
      const without = next[index];
      const better = reachable && (without === undefined || total > without.worth);
      next.push(better ? { worth: total, last: candidate, before: previous } : without);
    }
    const found = next.at(-1);
    if (found === undefined) break;
    longest = found;
    best = next;
  }
  return unlinked(longest);
}

function countEndingBy(byEnd: readonly Pickable[], atMs: number): number {
  let low = 0;
  let high = byEnd.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((byEnd[middle]?.endMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function unlinked<Each>(chain: Chain<Each> | undefined): Each[] {
  const picks: Each[] = [];
  for (let link = chain; link !== undefined; link = link.before) picks.push(link.last);
  return picks;
}
