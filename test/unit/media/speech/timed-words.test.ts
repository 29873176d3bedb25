import { describe, expect, test } from 'vitest';
import { withoutLoops } from '#workers/media/speech/repeated-words.ts';
import { sentenceStarts } from '#workers/media/speech/sentences.ts';
import { alignmentHeadCount } from '#workers/media/speech/speech-model.ts';
import { type TimedWord, timedWords } from '#workers/media/speech/timed-words.ts';
import { parseVocabulary, tokensText } from '#workers/media/speech/token-vocabulary.ts';
import { snapWordEdges } from '#workers/media/speech/word-edges.ts';

const table = (...tokens: readonly string[]) =>
  Buffer.concat(
    tokens.map((token) => {
      const bytes = Buffer.from(token);
      const length = bytes.length < 128 ? [bytes.length] : [128 + (bytes.length % 128), bytes.length >> 7];
      return Buffer.concat([Buffer.from(length), bytes]);
    }),
  );

const word = (text: string, startMs: number, endMs: number): TimedWord => ({
  ...{ text, startMs, endMs },
  confidence: 1,
});

/** Words of 300 ms each, 20 ms apart. */
const said = (text: string) =>
  text.split(' ').map((each, index) => word(each, index * 320, index * 320 + 300));

describe('the vocabulary', () => {
  test('has its tokens in order, long ones too', () => {
    const long = 'x'.repeat(300);
    const vocabulary = parseVocabulary(table('<unk>', '\u2581one', long));
    expect(vocabulary.map(String)).toEqual(['<unk>', '\u2581one', long]);
  });

  test('gives text, with characters put together from bytes and without control tokens', () => {
    const [first, second] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
    const tokens = [Buffer.from('<s>'), Buffer.from('\u2581caf'), first, second];
    expect(tokensText(tokens)).toBe(' café');
  });
});

test('words begin where attention goes to them', () => {
  const vocabulary = parseVocabulary(table('<unk>', '<s>', '</s>', '\u2581one', '\u2581two', '-fold'));
  // Each token listens to 10 of 40 frames, and the end to the last.
  const attention = (from: number) => {
    const row = new Float32Array(alignmentHeadCount * 40);
    for (let head = 0; head < alignmentHeadCount; head += 1)
      row.fill(1, head * 40 + from, head * 40 + from + 10);
    return row;
  };
  const heard = {
    tokens: [3, 4, 5],
    logProbabilities: [-0.1, -0.2, -0.4],
    attentions: [0, 10, 20, 30].map(attention),
    frames: 40,
  };
  const words = timedWords(heard, vocabulary, 4_000);
  expect(words.map(({ text, startMs, endMs }) => [text, startMs, endMs])).toEqual([
    ['one', 0, 1_000],
    ['two-fold', 1_000, 3_000],
  ]);
  expect(words[1]?.confidence).toBeCloseTo(Math.exp(-0.3));
});

describe('the edges of words', () => {
  /** A sound of [seconds, amplitude] in turn. */
  const sound = (...stretches: readonly (readonly [number, number])[]) =>
    Float32Array.from(
      stretches.flatMap(([seconds, amplitude]) =>
        Array.from({ length: seconds * 16_000 }, (_, at) => Math.sin(at * 0.3) * amplitude),
      ),
    );

  test('move out of a pause that the model has put into a word', () => {
    const words = [word('so', 0, 500), word('ask', 500, 2_500)];
    const snapped = snapWordEdges(words, sound([0.6, 0.3], [1.4, 0.0005], [0.5, 0.3]));
    expect(snapped[0]?.endMs).toBeCloseTo(600, -2);
    expect(snapped[1]?.startMs).toBeCloseTo(2_000, -2);
    expect(snapped[1]?.endMs).toBe(2_500);
  });

  test('stay where speech goes on', () => {
    const words = [word('one', 0, 400), word('two', 400, 1_000)];
    expect(snapWordEdges(words, sound([1, 0.3])).map(({ startMs }) => startMs)).toEqual([0, 400]);
  });
});

describe('sentences', () => {
  test('end with a full stop, a question or a call', () => {
    expect(sentenceStarts(said('It is. Is it? Yes! Good'))).toEqual([0, 2, 4, 5]);
  });

  test('do not end with an abbreviation or an initial', () => {
    expect(sentenceStarts(said('Mr. J. Dashwood vs. nobody'))).toEqual([0]);
  });

  test('end in a long silence', () => {
    const words = [word('well', 0, 300), word('then', 1_400, 1_700)];
    expect(sentenceStarts(words)).toEqual([0, 1]);
  });

  test('without any end are parted at their longest pauses', () => {
    const words = Array.from({ length: 120 }, (_, index) => word('so', index * 500, index * 500 + 450));
    const last = words[60];
    if (last !== undefined) words[60] = { ...last, startMs: last.startMs + 40 };
    const starts = sentenceStarts(words);
    expect(starts).toContain(60);
    expect(starts.length).toBeGreaterThan(1);
  });

  test('nothing said has none', () => {
    expect(sentenceStarts([])).toEqual([]);
  });
});

describe('loops of the model', () => {
  test('are cut to what was said once', () => {
    const looped = withoutLoops(said('we go on and on and on and on and on then'));
    expect(looped.map(({ text }) => text).join(' ')).toBe('we go on and on then');
  });

  test('what people do repeat stays', () => {
    const spoken = said('again and again no no no');
    expect(withoutLoops(spoken)).toEqual(spoken);
  });
});
