import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { ChoiceRequest } from '#workers/clip/choose/choice-request.ts';
import { chooseClips } from '#workers/clip/choose/choose-clips.ts';
import { sourceAnalysisSchema } from '#workers/media/analysis/analysis-schema.ts';
import { SentenceEmbedder } from '#workers/media/text/sentence-embedder.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { plainRequestFor } from './plain-request.ts';

/** What the analysis found in the project's sample, `infra/sample/talk.mp4`: 34 s of a talk on a picture of the sky. */
const analysis = sourceAnalysisSchema.parse(
  JSON.parse(await readFile(new URL('talk-analysis.json', import.meta.url), 'utf8')),
);
const embedder = await SentenceEmbedder.open(await ModelStore.open());

async function choose(over: Partial<ChoiceRequest>) {
  const request: ChoiceRequest = { ...plainRequestFor('talk.mp4'), ...over };
  return chooseClips(analysis, request, { embedder });
}

const words = analysis.sound?.words ?? [];
const said = (cut: { start_ms: number; end_ms: number } | undefined) =>
  words
    .filter((word) => cut !== undefined && word.start_ms >= cut.start_ms && word.end_ms <= cut.end_ms)
    .map((word) => word.text)
    .join(' ');

test('two clips of the sample begin and end with its sentences, and are named by its words', async () => {
  const { clips, shortfall } = await choose({ num_clips: 2 });
  expect(shortfall).toBeNull();
  expect(clips).toHaveLength(2);
  for (const clip of clips) {
    const text = said(clip.cuts.at(-1));
    expect(text).toMatch(/^(?:Look at|For ten years|Two million|Almost|The faintest|Their light)/);
    expect(text).toMatch(/(?:again|picture|them|see|beginning)\.$/);
    expect(clip.title.split(' ').length).toBeGreaterThanOrEqual(3);
    const spoken = words.map((word) => word.text.toLowerCase()).join(' ');
    expect(spoken).toContain(clip.title.toLowerCase());
  }
  expect(clips[0]?.title).not.toBe(clips[1]?.title);
});

test.each([
  ['looking back in time', /back in time/],
  ['the telescope watching one patch of sky', /Hubble Space Telescope/],
])('the prompt "%s" is answered', async (prompt, expected) => {
  const { clips } = await choose({ prompt, length_seconds: 12 });
  expect(said(clips[0]?.cuts.at(-1))).toMatch(expected);
  expect(clips[0]?.notes).toEqual([]);
});

test('a hook goes first or is the opening, and cuts lie between words', async () => {
  const { clips } = await choose({ hook_length_seconds: 4 });
  const [clip] = clips;
  expect(clip?.hook?.length_ms).toBeLessThanOrEqual(4_000);
  expect(clip?.cuts.length).toBe(clip?.hook?.kind === 'teaser' ? 2 : 1);
  const edges = (clip?.cuts ?? []).flatMap((cut) => [cut.start_ms, cut.end_ms]);
  for (const edge of edges) {
    expect(words.some((word) => word.start_ms < edge && edge < word.end_ms)).toBe(false);
  }
});

test('instructions shape the heading, and the note says what was followed', async () => {
  const instructions = 'All caps, at most 5 words, about the age of the light';
  const { clips } = await choose({ heading: { text: null, instructions } });
  expect(clips[0]?.heading).toMatch(/^[A-Z0-9 ,'-]+$/);
  expect(clips[0]?.heading?.split(' ').length).toBeLessThanOrEqual(5);
  expect(clips[0]?.notes.join(' ')).toContain(
    'upper case, at most 5 words, sentences near their subject preferred',
  );
});
