import { describe, expect, test } from 'vitest';
import { headingInstructions } from '#workers/clip/choose/heading-instructions.ts';
import { headingText, saysTheSame, shaped } from '#workers/clip/choose/heading-text.ts';
import { headlines, wordRarity } from '#workers/clip/choose/headlines.ts';
import { understoodSentences } from '#workers/clip/choose/transcript.ts';
import { syntheticAnalysis } from './synthetic-analysis.ts';

function heard(texts: readonly string[], confidence: (word: string) => number = () => 0.95) {
  let startMs = 500;
  const sentences = texts.map((text) => {
    const said = { text, startMs };
    startMs += text.split(' ').length * 300 + 600;
    return said;
  });
  const analysis = syntheticAnalysis({ durationMs: startMs, sentences });
  const words = (analysis.sound?.words ?? []).map((word) => ({ ...word, confidence: confidence(word.text) }));
  const sound = analysis.sound === null ? null : { ...analysis.sound, words };
  return understoodSentences(sound, { durationMs: startMs, cutsMs: [] });
}

function best(texts: readonly string[], confidence?: (word: string) => number): readonly string[] {
  const sentences = heard(texts, confidence);
  const vectors = sentences.map(() => Float32Array.from([1]));
  return headlines({ sentences, vectors, favour: [] }, wordRarity(sentences)).map(({ text }) => text);
}

describe('headlines', () => {
  test('are a short sentence where there is one', () => {
    expect(
      best(['So the first books were printed in black letter.', 'It went on from there for a long time.'])[0],
    ).toBe('The first books were printed in black letter');
  });

  test('are a noun phrase of a long sentence, without a broken end', () => {
    const found = best([
      'And two million seconds of light added up into a single picture that nobody had ever seen before then.',
    ]);
    expect(found).toContain('Two million seconds of light');
    for (const text of found) {
      expect(text).toMatch(/^[A-Z]/);
      expect(text.split(' ').length).toBeGreaterThanOrEqual(3);
      expect(text.split(' ').length).toBeLessThanOrEqual(10);
      expect(text).not.toMatch(/ (?:of|the|a|and|to|into|that|had)$|[,.;]$/);
      expect(text).not.toMatch(/^(?:And|So|Um|Of|Into)\b/);
    }
  });

  test('leave out what only announces the rest', () => {
    expect(best(['I think that the price of bread will double.'])[0]).toBe('The price of bread will double');
  });

  test('hold no word that was heard badly', () => {
    const found = best(
      ['The Wolverines cook dinner for everybody.', 'The farmers bring fresh vegetables.'],
      (word) => (word === 'Wolverines' ? 0.4 : 0.95),
    );
    expect(found.join(' ')).not.toContain('Wolverines');
    expect(found[0]).toBe('The farmers bring fresh vegetables');
  });

  test('keep the capitals of names and lose those of a restart', () => {
    expect(best(['Tonight the Hubble Space Telescope looks For The same patch.'])[0]).toBe(
      'Tonight the Hubble Space Telescope looks for the same patch',
    );
  });

  test('keep a question’s mark', () => {
    expect(best(['How do whales sleep under water?'])[0]).toBe('How do whales sleep under water?');
  });

  test('of words that say nothing there are none', () => {
    expect(best(['It is what it is.', 'And so on.', 'Yeah, right.'])).toEqual([]);
  });
});

test.each([
  ['The first books were printed', 'Books were first printed', true],
  ['The first books were printed', 'A whale sleeps under water', false],
])('%j and %j say the same: %s', (one, other, same) => {
  expect(saysTheSame(one, other)).toBe(same);
});

describe('heading instructions', () => {
  const headline = {
    text: 'The first books were printed in black letter',
    score: 1,
    isQuestion: false,
    wordCount: 8,
    sentence: 0,
  };
  const short = { text: 'Movable metal letters', score: 0.9, isQuestion: false, wordCount: 3, sentence: 1 };
  const asked = {
    text: 'Why did they look like this?',
    score: 0.5,
    isQuestion: true,
    wordCount: 6,
    sentence: 2,
  };
  const made = (instructions: string, style = 'viral') =>
    headingText([headline, short, asked], headingInstructions(instructions), style);

  test.each([
    ['ALL CAPS please', 'MOVABLE METAL LETTERS'],
    ['write it in lowercase', 'movable metal letters'],
    ['Use title case, up to 10 words', 'The First Books Were Printed in Black Letter'],
    ['Make it a question', 'Why did they look like this?'],
    ['max 3 words', 'Movable metal letters'],
    ['two words only', 'Movable metal'],
    ['end with an exclamation mark', 'Movable metal letters!'],
    ['Always include "BookTalk"', 'BookTalk: Movable metal letters'],
    ['an emoji', 'Movable metal letters 🔥'],
    ['no emoji, not in capitals', 'Movable metal letters'],
    ['upper case, with an emoji, mention “Gutenberg”', 'GUTENBERG: MOVABLE METAL LETTERS 🔥'],
    ['', 'Movable metal letters'],
  ])('%j gives %j', (instructions, expected) => {
    expect(made(instructions)).toBe(expected);
  });

  test('a longer headline stands where it is clearly better than the short ones', () => {
    expect(headingText([headline, { ...short, score: 0.6 }], null, 'viral')).toBe(headline.text);
  });

  test('a statement becomes a question where rules can turn it', () => {
    const instructions = headingInstructions('as a question, up to 10 words');
    expect(shaped(headline.text, instructions, 'viral')).toBe(
      'Were the first books printed in black letter?',
    );
    expect(shaped('Whales sleep', instructions, 'viral')).toBe('Did you know: Whales sleep?');
  });

  test('what is left of them is their topic', () => {
    expect(headingInstructions('Short and punchy, max 5 words, about medieval craftsmen').topic).toBe(
      'medieval craftsmen',
    );
    expect(headingInstructions('ALL CAPS, with an emoji').topic).toBe('');
  });

  test('must-have words alone make a heading where nothing is said', () => {
    expect(shaped('', headingInstructions('must contain "Episode 7"'), 'viral')).toBe('Episode 7');
    expect(shaped('', headingInstructions('in capitals'), 'viral')).toBeNull();
  });

  test.each(['"'.repeat(700), '('.repeat(1500), 'a '.repeat(750), '1 '.repeat(700), "'x' ".repeat(300)])(
    'any text is read quickly: %#',
    (text) => {
      expect(() => headingInstructions(text)).not.toThrow();
    },
  );
});
