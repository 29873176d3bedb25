import { describe, expect, test } from 'vitest';
import { chooseSegments, type Material, overlapMs } from '#workers/clip/choose/choose-segments.ts';
import type { Span } from '#workers/media/speech/utterances.ts';

/** Sentences of `speechMs`, parted by pauses that are long after every third. */
function talk(durationMs: number, speechMs = 3_000): Span[] {
  const spans: Span[] = [];
  let atMs = 500;
  for (let index = 0; atMs + speechMs < durationMs; index += 1) {
    spans.push({ startMs: atMs, endMs: atMs + speechMs });
    atMs += speechMs + (index % 3 === 2 ? 1_000 : 300);
  }
  return spans;
}

function material(over: Partial<Material> & { readonly durationMs: number }): Material {
  return { utterances: talk(over.durationMs), shotsMs: [], black: [], levelDb: () => -20, ...over };
}

function expectDistinct(segments: readonly Span[]): void {
  const byStart = segments.toSorted((a, b) => a.startMs - b.startMs);
  for (const [index, segment] of byStart.entries()) {
    const next = byStart[index + 1];
    if (next !== undefined) expect(segment.endMs).toBeLessThanOrEqual(next.startMs);
  }
}

describe('choosing segments', () => {
  test('a source of ten seconds gives itself', () => {
    const choice = chooseSegments(material({ durationMs: 10_000 }), { count: 1, lengthMs: null });
    expect(choice.segments).toHaveLength(1);
    expect(choice.shortfall).toBeNull();
    const [segment] = choice.segments;
    expect((segment?.endMs ?? 0) - (segment?.startMs ?? 0)).toBeGreaterThan(8_500);
  });

  test('a source shorter than the length asked for gives itself and says so', () => {
    const choice = chooseSegments(material({ durationMs: 12_000 }), { count: 1, lengthMs: 60_000 });
    expect(choice.segments[0]).toMatchObject({ startMs: 0, endMs: 12_000 });
    expect(choice.notes).toEqual(['The source is shorter than the length that was asked for.']);
  });

  test.each([10, 20, 45, 90, 180])('a length of %i s is met within a fifth', (lengthSeconds) => {
    const choice = chooseSegments(material({ durationMs: 600_000 }), {
      count: 3,
      lengthMs: lengthSeconds * 1000,
    });
    expect(choice.segments).toHaveLength(3);
    for (const segment of choice.segments) {
      const lengthMs = segment.endMs - segment.startMs;
      expect(lengthMs).toBeGreaterThanOrEqual(lengthSeconds * 800);
      expect(lengthMs).toBeLessThanOrEqual(lengthSeconds * 1200);
    }
    expectDistinct(choice.segments);
  });

  test('without a length clips last 15 to 60 seconds', () => {
    const choice = chooseSegments(material({ durationMs: 600_000 }), { count: 10, lengthMs: null });
    expect(choice.segments).toHaveLength(10);
    for (const { startMs, endMs } of choice.segments) {
      expect(endMs - startMs).toBeGreaterThanOrEqual(15_000);
      expect(endMs - startMs).toBeLessThanOrEqual(60_000);
    }
    expectDistinct(choice.segments);
  });

  test('no segment starts or ends inside an utterance', () => {
    const source = material({ durationMs: 300_000 });
    const choice = chooseSegments(source, { count: 5, lengthMs: 30_000 });
    for (const { startMs, endMs } of choice.segments) {
      for (const edge of [startMs, endMs]) {
        expect(source.utterances.some((span) => span.startMs < edge && edge < span.endMs)).toBe(false);
      }
    }
  });

  test('long pauses are preferred as edges', () => {
    const [segment] = chooseSegments(material({ durationMs: 60_000 }), {
      count: 1,
      lengthMs: 20_000,
    }).segments;
    expect(segment?.score.parts['edges']).toBe(1);
  });

  test('segments spread over a long source', () => {
    const { segments } = chooseSegments(material({ durationMs: 3_600_000 }), { count: 4, lengthMs: 30_000 });
    const starts = segments.map((segment) => segment.startMs).toSorted((a, b) => a - b);
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(1_800_000);
  });

  test('a source that holds fewer clips than asked says how many and why', () => {
    const choice = chooseSegments(material({ durationMs: 70_000 }), { count: 10, lengthMs: 30_000 });
    expect(choice.segments.length).toBeGreaterThanOrEqual(2);
    expect(choice.segments.length).toBeLessThan(10);
    expect(choice.shortfall).toMatch(
      /^The source gives only \d+ clips of at least 24 seconds .* 10 were asked for\.$/,
    );
  });

  test('as many clips as fit are found also where the best ones alone would leave no room', () => {
    const choice = chooseSegments(material({ durationMs: 62_000 }), { count: 4, lengthMs: null });
    expect(choice.segments).toHaveLength(4);
    expectDistinct(choice.segments);
  });

  test('speech is preferred to music', () => {
    const utterances = talk(300_000).filter((span) => span.startMs > 200_000 && span.startMs < 260_000);
    const [segment] = chooseSegments(material({ durationMs: 300_000, utterances }), {
      count: 1,
      lengthMs: 30_000,
    }).segments;
    expect(segment?.startMs).toBeGreaterThan(190_000);
    expect(segment?.endMs).toBeLessThan(270_000);
  });

  test('without any speech clips begin and end at cuts', () => {
    const shotsMs = [21_000, 47_000, 78_000];
    const source = material({ durationMs: 120_000, utterances: [], shotsMs });
    const { segments } = chooseSegments(source, { count: 2, lengthMs: null });
    const edges = new Set([0, ...shotsMs, 120_000]);
    for (const segment of segments) {
      expect(edges.has(segment.startMs) && edges.has(segment.endMs)).toBe(true);
    }
  });

  test('without speech or cuts there are clips all the same', () => {
    const choice = chooseSegments(material({ durationMs: 60_000, utterances: [] }), {
      count: 2,
      lengthMs: 20_000,
    });
    expect(choice.segments).toHaveLength(2);
    expectDistinct(choice.segments);
  });

  test('black stretches are avoided', () => {
    const black = [{ startMs: 0, endMs: 60_000 }];
    const source = material({ durationMs: 120_000, utterances: [], black });
    const [segment] = chooseSegments(source, { count: 1, lengthMs: 30_000 }).segments;
    expect(overlapMs(black, segment ?? { startMs: 0, endMs: 1 })).toBe(0);
  });

  test('speech without any pause at the right place still gives a clip', () => {
    const utterances = [{ startMs: 0, endMs: 200_000 }];
    const choice = chooseSegments(material({ durationMs: 200_000, utterances }), {
      count: 1,
      lengthMs: 30_000,
    });
    expect(choice.segments[0]).toMatchObject({ startMs: 0, endMs: 30_000 });
  });

  test('the same material gives the same choice', () => {
    const wish = { count: 5, lengthMs: null };
    const source = material({ durationMs: 900_000, shotsMs: [10_000, 300_000] });
    expect(chooseSegments(source, wish)).toEqual(chooseSegments(source, wish));
  });

  test('four hours of talk are chosen from within seconds', () => {
    const started = performance.now();
    const choice = chooseSegments(material({ durationMs: 4 * 3_600_000 }), { count: 10, lengthMs: null });
    expect(choice.segments).toHaveLength(10);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
