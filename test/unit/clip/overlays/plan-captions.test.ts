import { describe, expect, test } from 'vitest';
import type { ClipWord } from '#workers/clip/overlays/clip-words.ts';
import type { CaptionPage } from '#workers/clip/overlays/overlay-plan.ts';
import { planCaptions } from '#workers/clip/overlays/plan-captions.ts';

const options = { enabled: true, color: 'yellow', font: 'Anton' };

/** Words of 250 ms each, said one after the other; `pauses` are milliseconds before a word, by its number. */
function said(text: string, about: Partial<ClipWord> = {}, pauses: Record<number, number> = {}): ClipWord[] {
  let at = 0;
  return text.split(' ').map((word, index) => {
    at += pauses[index] ?? 0;
    const start_ms = at;
    at += 300;
    return { text: word, start_ms, end_ms: start_ms + 250, confidence: 0.9, cut: 0, ...about };
  });
}

const pagesOf = (words: readonly ClipWord[]) => planCaptions(words, options).plan?.pages ?? [];
const text = (page: CaptionPage) =>
  page.lines.map((line) => line.map((word) => word.text).join(' ')).join(' / ');

describe('pages', () => {
  const long = said(
    'so this is what nobody ever tells you about the first years of a company, namely that they are hard',
  );

  test('hold one or two lines of at most 20 characters, for at most 2 s, and every word once', () => {
    const pages = pagesOf(long);
    expect(pages.flatMap(({ lines }) => lines.flat()).map((word) => word.text)).toEqual(
      long.map((word) => word.text),
    );
    for (const page of pages) {
      expect(page.lines.length).toBeLessThanOrEqual(2);
      expect(page.end_ms - page.start_ms).toBeLessThanOrEqual(2_000);
      expect(page.end_ms).toBeGreaterThanOrEqual(page.lines.flat().at(-1)?.end_ms ?? 0);
      for (const line of page.lines)
        expect(line.map((word) => word.text).join(' ').length).toBeLessThanOrEqual(20);
    }
  });

  test('follow one another without overlapping, and none is a single short word of a phrase', () => {
    const pages = pagesOf(long);
    pages.slice(1).forEach((page, index) => {
      expect(page.start_ms).toBeGreaterThanOrEqual(pages[index]?.end_ms ?? 0);
    });
    expect(pages.filter((page) => page.lines.flat().length === 1)).toEqual([]);
  });

  test('end with sentences, pauses and commas', () => {
    const pages = pagesOf(said('That was it. Now we go on, slowly and for long', {}, { 9: 700 }));
    expect(pages.map(text)).toEqual(['That was it.', 'Now we go on, / slowly and', 'for long']);
  });

  test('end with a cut, and stay no longer than it', () => {
    const before = said('one two');
    const after = said('three four', { cut: 1 }).map((word) => ({
      ...word,
      start_ms: word.start_ms + 600,
      end_ms: word.end_ms + 600,
    }));
    const pages = pagesOf([...before, ...after]);
    expect(pages.map(text)).toEqual(['one two', 'three four']);
    expect(pages[0]?.end_ms).toBe(550);
  });

  test('a word longer than a line stands alone', () => {
    expect(pagesOf(said('see supercalifragilisticexpialidocious now')).map(text)).toEqual([
      'see',
      'supercalifragilisticexpialidocious',
      'now',
    ]);
  });
});

describe('what is not said', () => {
  test('is left out: marks of sounds, emoji, control characters', () => {
    expect(pagesOf(said('[Music] well ♪ (laughs) yes 😀 \u202enow\u0007')).map(text)).toEqual([
      'well',
      'yes now',
    ]);
  });

  test('a phrase that was hardly understood is left out, and the plan says so', () => {
    const clear = said('this was clear.');
    const noise = said('zug bla vor.', { confidence: 0.4 }).map((word) => ({
      ...word,
      start_ms: word.start_ms + 2_000,
      end_ms: word.end_ms + 2_000,
    }));
    const planned = planCaptions([...clear, ...noise], options);
    expect(planned.plan?.pages.map(text)).toEqual(['this was clear.']);
    expect(planned.notes).toEqual(['3 of 6 words were not clear enough for captions.']);
  });

  test('no words are no captions, with the reason', () => {
    expect(planCaptions([], options)).toEqual({
      plan: null,
      notes: ['The clip has no captions: nothing is said in it.'],
    });
    const guessed = planCaptions(said('a b c', { confidence: 0.2 }), options);
    expect(guessed).toEqual({
      plan: null,
      notes: ['The clip has no captions: what is said in it was not understood.'],
    });
  });

  test('of a source whose words are nonsense even a phrase that seems clear is not shown', () => {
    expect(planCaptions(said('this was clear.'), options, true)).toEqual({
      plan: null,
      notes: ['The clip has no captions: what is said in it was not understood.'],
    });
  });

  test('captions that were not asked for are not made, and not missed', () => {
    expect(planCaptions(said('hello'), null)).toEqual({ plan: null, notes: [] });
    expect(planCaptions(said('hello'), { ...options, enabled: false })).toEqual({ plan: null, notes: [] });
  });
});
