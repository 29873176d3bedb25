import { describe, expect, test } from 'vitest';
import { candidates } from '#workers/clip/choose/candidates.ts';
import type { ChoiceRequest } from '#workers/clip/choose/choice-request.ts';
import { durationRange } from '#workers/clip/choose/clip-durations.ts';
import { clipEdges } from '#workers/clip/choose/clip-edges.ts';
import { openClip } from '#workers/clip/choose/hook.ts';
import { judgeSource } from '#workers/clip/choose/judge-source.ts';
import { syntheticAnalysis } from './synthetic-analysis.ts';

const request: ChoiceRequest = {
  num_clips: 1,
  style: 'viral',
  prompt: null,
  length_seconds: null,
  hook_length_seconds: null,
  auto_heading: false,
  heading: null,
  sourceName: { title: null, fileName: 'talk.mp4' },
};

/** All sentences mean the same: topics play no part here. */
const embedder = { embed: async (texts: readonly string[]) => texts.map(() => Float32Array.from([1])) };

const plain = [
  'The workshop opens at eight and the tools are laid out on the bench.',
  'A board is cut to length and planed on both of its sides.',
  'The joints are marked with a knife and checked with a square.',
  'The glue has to dry for a day before the frame is sanded.',
];
const strong = 'What if you never knew the secret truth?';

/** The widest clip of a talk, opened with a wish for its hook. */
async function opened(
  texts: readonly string[],
  hookSeconds: number | null,
  lengthSeconds: number | null = null,
) {
  let startMs = 500;
  const sentences = texts.map((text) => {
    const said = { text, startMs };
    startMs += text.split(' ').length * 300 + 900;
    return said;
  });
  const analysis = syntheticAnalysis({ durationMs: startMs, sentences });
  const { source } = await judgeSource(analysis, request, embedder);
  const edges = clipEdges(source.curves, source);
  const lengthMs = lengthSeconds === null ? null : lengthSeconds * 1000;
  const range = durationRange({ lengthMs, count: 1, durationMs: startMs });
  const clip = candidates(source, edges, range)
    .filter((each) => each.firstSentence === 0)
    .reduce((widest, each) => (each.endMs > widest.endMs ? each : widest));
  const wish = { hookMs: hookSeconds === null ? null : hookSeconds * 1000, lengthMs, maxMs: range.maxMs };
  return { ...openClip(clip, source, edges.ends, wish), analysis, clip, range };
}

function said(
  analysis: ReturnType<typeof syntheticAnalysis>,
  cut: { start_ms: number; end_ms: number } | undefined,
) {
  return (analysis.sound?.words ?? [])
    .filter((word) => cut !== undefined && word.start_ms >= cut.start_ms && word.end_ms <= cut.end_ms)
    .map((word) => word.text)
    .join(' ');
}

describe('with a hook length', () => {
  test('the strongest sentence that fits goes first, and the clip then plays whole', async () => {
    const { cuts, hook, analysis, clip } = await opened([...plain, strong, ...plain.slice(0, 2)], 4);
    expect(cuts).toHaveLength(2);
    expect(said(analysis, cuts[0])).toBe(strong);
    expect(hook).toEqual({ kind: 'teaser', length_ms: (cuts[0]?.end_ms ?? 0) - (cuts[0]?.start_ms ?? 0) });
    expect(hook?.length_ms).toBeLessThanOrEqual(4_000);
    expect(cuts[1]).toEqual({ start_ms: clip.startMs, end_ms: clip.endMs });
  });

  test('a clip that begins with it is not played twice: the opening is the hook, held to that length', async () => {
    const { cuts, hook } = await opened([strong, ...plain, ...plain], 4);
    expect(cuts).toHaveLength(1);
    expect(hook?.kind).toBe('opening');
    expect(hook?.length_ms).toBeLessThanOrEqual(4_000);
    expect(hook?.length_ms).toBeGreaterThan(2_000);
  });

  test('of a sentence that is too long, a phrase between its pauses is taken, or none', async () => {
    const { cuts, hook } = await opened([...plain, ...plain], 2);
    expect(hook?.length_ms).toBeLessThanOrEqual(2_000);
    expect(cuts.length === 2 || hook?.kind === 'opening').toBe(true);
  });

  test('the clip with its teaser stays near the length asked for', async () => {
    const { cuts, range } = await opened([...plain, strong, ...plain, ...plain], 4, 40);
    expect(cuts).toHaveLength(2);
    const total = cuts.reduce((sum, cut) => sum + cut.end_ms - cut.start_ms, 0);
    expect(total).toBeLessThanOrEqual(range.maxMs);
    expect(total).toBeGreaterThanOrEqual(range.minMs);
  });
});

describe('without a hook length', () => {
  test('the opening is the hook', async () => {
    const { cuts, hook } = await opened([...plain, ...plain], null);
    expect(cuts).toHaveLength(1);
    expect(hook?.kind).toBe('opening');
  });

  test('a sentence that is clearly stronger than the opening goes first all the same', async () => {
    const { cuts, hook, analysis } = await opened([...plain, strong, ...plain.slice(0, 2)], null);
    expect(hook?.kind).toBe('teaser');
    expect(said(analysis, cuts[0])).toBe(strong);
  });
});
