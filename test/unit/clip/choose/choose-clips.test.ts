import { describe, expect, test } from 'vitest';
import { candidates } from '#workers/clip/choose/candidates.ts';
import type { ChoiceRequest } from '#workers/clip/choose/choice-request.ts';
import { chooseClips } from '#workers/clip/choose/choose-clips.ts';
import type { ChosenClip } from '#workers/clip/choose/chosen-clip.ts';
import { durationRange } from '#workers/clip/choose/clip-durations.ts';
import { clipEdges } from '#workers/clip/choose/clip-edges.ts';
import { judgeSource } from '#workers/clip/choose/judge-source.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import { SentenceEmbedder } from '#workers/media/text/sentence-embedder.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { plainRequestFor } from './plain-request.ts';
import { syntheticAnalysis, talk } from './synthetic-analysis.ts';

const model = await SentenceEmbedder.open(await ModelStore.open());

/** The real model, asked once for each text: a long synthetic talk says the same again and again. */
const vectors = new Map<string, Float32Array>();
const embedder = {
  embed: async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    const fresh = [...new Set(texts)].filter((text) => !vectors.has(text));
    for (const [at, vector] of (await model.embed(fresh)).entries()) vectors.set(fresh[at] ?? '', vector);
    return texts.map((text) => vectors.get(text) ?? new Float32Array(384));
  },
};

const plainRequest: ChoiceRequest = plainRequestFor('board_meeting.mp4');

async function choose(analysis: SourceAnalysis, over: Partial<ChoiceRequest> = {}) {
  return chooseClips(analysis, { ...plainRequest, ...over }, { embedder });
}

function only<Each>(list: readonly Each[]): Each {
  const [first] = list;
  if (first === undefined) throw new Error('There is none.');
  return first;
}

/** The stretch that a clip shows, without its teaser. */
function mainCut(clip: ChosenClip) {
  const cut = clip.cuts.at(-1);
  if (cut === undefined) throw new Error('A clip without a cut.');
  return cut;
}

function textOf(analysis: SourceAnalysis, clip: ChosenClip): string {
  const { start_ms, end_ms } = mainCut(clip);
  const words = analysis.sound?.words ?? [];
  return words
    .filter((word) => word.start_ms >= start_ms && word.end_ms <= end_ms)
    .map((word) => word.text)
    .join(' ');
}

function expectApart(clips: readonly ChosenClip[]): void {
  const cuts = clips.map(mainCut).toSorted((a, b) => a.start_ms - b.start_ms);
  for (const [at, cut] of cuts.entries()) {
    const next = cuts[at + 1];
    if (next !== undefined) expect(cut.end_ms).toBeLessThanOrEqual(next.start_ms);
  }
}

function expectNoCutInsideWords(analysis: SourceAnalysis, clips: readonly ChosenClip[]): void {
  const edges = clips.flatMap((clip) => clip.cuts.flatMap((cut) => [cut.start_ms, cut.end_ms]));
  for (const edge of edges) {
    const cut = analysis.sound?.words.find((word) => word.start_ms < edge && edge < word.end_ms);
    expect(cut).toBeUndefined();
  }
}

describe('where clips begin and end', () => {
  const analysis = syntheticAnalysis({ durationMs: 480_000, sentences: talk(480_000) });

  test.each(['viral', 'business', 'general', 'gaming'])(
    'ten %s clips of eight minutes lie apart, at ends of sentences',
    async (style) => {
      const { clips, shortfall } = await choose(analysis, { num_clips: 10, style });
      expect(clips).toHaveLength(10);
      expect(shortfall).toBeNull();
      expectApart(clips);
      expectNoCutInsideWords(analysis, clips);
      for (const clip of clips) {
        const text = textOf(analysis, clip);
        expect(text).toMatch(/^[A-Z].*\.$/);
        const { start_ms, end_ms } = mainCut(clip);
        expect(end_ms - start_ms).toBeGreaterThanOrEqual(10_000);
        expect(end_ms - start_ms).toBeLessThanOrEqual(60_000);
      }
      expect(new Set(clips.map((clip) => clip.title)).size).toBe(10);
    },
  );

  test('room is left around words, but never more than half the pause', async () => {
    const { clips } = await choose(analysis, { num_clips: 10 });
    const words = analysis.sound?.words ?? [];
    for (const { start_ms, end_ms } of clips.map(mainCut)) {
      const first = words.find((word) => word.start_ms >= start_ms);
      const last = words.findLast((word) => word.end_ms <= end_ms);
      const before = words.findLast((word) => word.end_ms <= start_ms);
      const after = words.find((word) => word.start_ms >= end_ms);
      const lead = (first?.start_ms ?? 0) - start_ms;
      const tail = end_ms - (last?.end_ms ?? 0);
      expect(lead).toBeLessThanOrEqual(350);
      expect(tail).toBeLessThanOrEqual(450);
      if (before !== undefined) expect(start_ms - before.end_ms).toBeGreaterThanOrEqual(lead - 1);
      if (after !== undefined) expect(after.start_ms - end_ms).toBeGreaterThanOrEqual(tail - 1);
    }
  });

  test.each([10, 20, 45, 90, 180])(
    'a length of %i s is met within a fifth, teaser included',
    async (seconds) => {
      const { clips } = await choose(analysis, {
        num_clips: 2,
        length_seconds: seconds,
        hook_length_seconds: 3,
      });
      expect(clips).toHaveLength(2);
      for (const clip of clips) {
        const total = clip.cuts.reduce((sum, cut) => sum + cut.end_ms - cut.start_ms, 0);
        expect(total).toBeGreaterThanOrEqual(seconds * 800);
        expect(total).toBeLessThanOrEqual(seconds * 1200);
      }
      expectNoCutInsideWords(analysis, clips);
    },
  );

  test('a clip does not begin with an answer, nor run on into another topic', async () => {
    const said = talk(75_000);
    const [first] = said;
    const sentences = [
      { text: 'And that is why they never came back to it.', startMs: 400 },
      ...said.map((each) => ({ ...each, startMs: each.startMs + 4_000 })),
    ];
    const source = syntheticAnalysis({ durationMs: 80_000, sentences });
    const { clips } = await choose(source, { style: 'general' });
    expect(textOf(source, only(clips))).not.toMatch(/^And that/);
    expect(first).toBeDefined();
  });

  test('the same analysis and request give the same choice', async () => {
    const request = { num_clips: 5, prompt: 'the deep sea', hook_length_seconds: 4 };
    expect(await choose(analysis, request)).toEqual(await choose(analysis, request));
  });
});

describe('a prompt', () => {
  const analysis = syntheticAnalysis({ durationMs: 150_000, sentences: talk(75_000) });

  test.each([
    ['Find the part where they talk about baking', /bread|dough|crust/],
    ['robots and fish in the deep sea', /submarine|ocean|fish/],
    ['how the business grew', /revenue|Sales|customers/],
  ])('"%s" is answered by the passage on it', async (prompt, expected) => {
    const { clips } = await choose(analysis, { prompt });
    const clip = only(clips);
    expect(textOf(analysis, clip)).toMatch(expected);
    expect(clip.notes).toEqual([]);
    expect(clip.score.parts['prompt']).toBeGreaterThan(0.6);
  });

  test('what it asks to leave out is left out', async () => {
    const { clips } = await choose(analysis, { prompt: 'Bread and baking. No fish or submarines.' });
    expect(textOf(analysis, only(clips))).not.toMatch(/submarine|fish/);
  });

  test('that nothing answers gives way to the style, and the clip says so', async () => {
    const { clips } = await choose(analysis, { prompt: 'Tell me about medieval Mongolian poetry' });
    expect(only(clips).notes.join(' ')).toMatch(
      /^Nothing that is said in the source (clearly )?matches the prompt: /,
    );
  });

  test.each(['make 5 clips of 20 seconds each', '???', '\u{1F600}', 'a'.repeat(5_000), 'don’t'])(
    '%j does no harm',
    async (prompt) => {
      const { clips } = await choose(analysis, { prompt });
      expect(clips).toHaveLength(1);
    },
  );

  test('fills up with other clips when too few answer it, and they say so', async () => {
    const { clips } = await choose(analysis, { num_clips: 4, prompt: 'the submarine on the ocean floor' });
    expect(clips).toHaveLength(4);
    expect(clips.at(-1)?.notes.join(' ')).toContain('not about the prompt');
    expect(only(clips).notes).toEqual([]);
  });
});

describe('sources that are no talk', () => {
  test('ten seconds give themselves', async () => {
    const analysis = syntheticAnalysis({ durationMs: 10_000, sentences: talk(9_500) });
    const { clips, shortfall } = await choose(analysis);
    expect(shortfall).toBeNull();
    const { start_ms, end_ms } = mainCut(only(clips));
    expect(end_ms - start_ms).toBeGreaterThan(8_000);
  });

  test('a source shorter than the length asked for gives itself and says so', async () => {
    const analysis = syntheticAnalysis({ durationMs: 12_000, sentences: talk(11_500) });
    const { clips, shortfall } = await choose(analysis, { length_seconds: 60, num_clips: 3 });
    expect(only(clips).cuts).toEqual([{ start_ms: 0, end_ms: 12_000 }]);
    expect(only(clips).notes).toEqual(['The source is shorter than the length that was asked for.']);
    expect(shortfall).toBe(
      'The source lasts only 12.0 seconds, which is enough for one clip; 3 were asked for.',
    );
  });

  test('a source without sound is cut where its picture cuts, and named after its file', async () => {
    const analysis = syntheticAnalysis({
      durationMs: 120_000,
      hasSound: false,
      cutsMs: [21_000, 47_000, 78_000],
    });
    const { clips } = await choose(analysis, { num_clips: 2, prompt: 'whatever' });
    const edges = clips.flatMap((clip) => [mainCut(clip).start_ms, mainCut(clip).end_ms]);
    for (const edge of edges) expect([0, 21_000, 47_000, 78_000, 120_000]).toContain(edge);
    expect(only(clips).heading).toBe('Board meeting');
    expect(only(clips).title).toMatch(/^Board meeting, \d+:\d\d to \d+:\d\d$/);
    expect(only(clips).notes.join(' ')).toContain('no speech was understood');
  });

  test('music alone is cut into as many clips as were asked for', async () => {
    const analysis = syntheticAnalysis({ durationMs: 180_000 });
    const { clips } = await choose(analysis, { num_clips: 3, length_seconds: 20 });
    expect(clips).toHaveLength(3);
    expectApart(clips);
  });

  test('speech that was not understood is cut in its pauses, and no words of it are shown', async () => {
    const sentences = talk(120_000).map((each) => ({ ...each, confidence: 0.4 }));
    const analysis = syntheticAnalysis({ durationMs: 120_000, sentences });
    const { clips } = await choose(analysis, { num_clips: 2, hook_length_seconds: 5 });
    expect(clips).toHaveLength(2);
    expectNoCutInsideWords(analysis, clips);
    for (const clip of clips) {
      expect(clip.title).toMatch(/^Board meeting, /);
      expect(clip.hook?.kind).toBe('opening');
    }
  });

  test('gaming goes to where it is loud and lively', async () => {
    const isLively = (atMs: number): boolean => atMs > 200_000 && atMs < 225_000;
    const analysis = syntheticAnalysis({
      durationMs: 300_000,
      sentences: talk(300_000),
      loudness: (atMs) => (isLively(atMs) ? -100 : -250),
      motion: (atMs) => (isLively(atMs) ? 40 : 3),
    });
    const { start_ms, end_ms } = mainCut(only((await choose(analysis, { style: 'gaming' })).clips));
    expect(start_ms).toBeLessThan(215_000);
    expect(end_ms).toBeGreaterThan(205_000);
  });

  test('black stretches are left out', async () => {
    const analysis = syntheticAnalysis({ durationMs: 120_000, black: [{ startMs: 0, endMs: 60_000 }] });
    const clip = only((await choose(analysis, { length_seconds: 30 })).clips);
    expect(mainCut(clip).start_ms).toBeGreaterThanOrEqual(60_000);
  });

  test('one endless voice still gives a clip of the right length', async () => {
    const analysis = syntheticAnalysis({ durationMs: 200_000, voices: [{ startMs: 0, endMs: 200_000 }] });
    const { start_ms, end_ms } = mainCut(only((await choose(analysis, { length_seconds: 30 })).clips));
    expect(end_ms - start_ms).toBe(30_000);
  });

  test('a source without a name and without words has no heading', async () => {
    const analysis = syntheticAnalysis({ durationMs: 60_000 });
    const { clips } = await choose(analysis, { sourceName: { title: null, fileName: '1234.mp4' } });
    expect(only(clips).heading).toBeNull();
    expect(only(clips).notes.join(' ')).toContain('No heading');
  });
});

test('the work grows with the source, not with its square: four hours have four times the candidates of one', {
  timeout: 120_000,
}, async () => {
  const counted = async (hours: number): Promise<number> => {
    const durationMs = hours * 3_600_000;
    const analysis = syntheticAnalysis({ durationMs, sentences: talk(durationMs) });
    const { source } = await judgeSource(analysis, plainRequest, embedder);
    const range = durationRange({ lengthMs: null, count: 10, durationMs });
    return candidates(source, clipEdges(source.curves, source), range).length;
  };
  const [one, four] = [await counted(1), await counted(4)];
  expect(four / one).toBeCloseTo(4, 1);
  const analysis = syntheticAnalysis({ durationMs: 4 * 3_600_000, sentences: talk(4 * 3_600_000) });
  const { clips } = await choose(analysis, { num_clips: 10, prompt: 'baking bread' });
  expect(clips).toHaveLength(10);
});
