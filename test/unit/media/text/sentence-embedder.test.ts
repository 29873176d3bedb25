import { describe, expect, test } from 'vitest';
import { SentenceEmbedder, similarity } from '#workers/media/text/sentence-embedder.ts';
import { parseWordPieces, tokenNumbers } from '#workers/media/text/word-pieces.ts';
import { ModelStore } from '#workers/models/model-store.ts';

const models = await ModelStore.open();
const pieces = parseWordPieces((await models.read('all-minilm-l6-v2-tokenizer.json')).toString('utf8'));

describe('word pieces', () => {
  test.each([
    ['hello world', [101, 7592, 2088, 102]],
    ['Hello, WORLD!', [101, 7592, 1010, 2088, 999, 102]],
    ['Café', [101, 7668, 102]],
    ['embeddings', [101, 7861, 8270, 4667, 2015, 102]],
    ['', [101, 102]],
  ])('of %j are those of the uncased BERT vocabulary', (text, numbers) => {
    expect(tokenNumbers(text, pieces, 128)).toEqual(numbers);
  });

  test('what is too long is cut off, with its end mark kept', () => {
    const numbers = tokenNumbers('so '.repeat(500), pieces, 16);
    expect(numbers).toHaveLength(16);
    expect(numbers.at(-1)).toBe(102);
  });

  test('characters that the model does not know are one unknown word', () => {
    expect(tokenNumbers('\u{1F9FF}\u{1F9FF}', pieces, 128)).toEqual([101, 100, 102]);
  });
});

describe('sentence vectors', () => {
  test('lie closer together the more sentences mean the same, whatever else is in their run', async () => {
    const embedder = await SentenceEmbedder.open(models);
    const [cat, feline, stocks] = await embedder.embed([
      'A cat sits on the mat.',
      'A feline is resting on the rug.',
      'Stock markets fell sharply on Monday after the central bank raised interest rates again.',
    ]);
    const [alone] = await embedder.embed(['A cat sits on the mat.']);
    if (cat === undefined || feline === undefined || stocks === undefined || alone === undefined) {
      throw new Error('a sentence has no vector');
    }
    expect(similarity(cat, cat)).toBeCloseTo(1, 3);
    expect(similarity(cat, alone)).toBeGreaterThan(0.97);
    expect(similarity(cat, feline)).toBeGreaterThan(0.5);
    expect(similarity(cat, stocks)).toBeLessThan(0.2);
  });
});
