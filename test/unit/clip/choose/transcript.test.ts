import { describe, expect, test } from 'vitest';
import { isNonsense } from '#workers/clip/choose/transcript.ts';

const heard = (text: string, confidence: number) =>
  text.split(' ').map((word) => ({ text: word, confidence }));

describe('what makes no sense as a whole', () => {
  test('is what the recogniser was unsure of', () => {
    expect(isNonsense(heard('Practice the detective of the mother body', 0.4))).toBe(true);
    expect(isNonsense(heard('Lay blue at X four now.', 0.68))).toBe(false);
  });

  test('is also what it grew sure of only by repeating itself', () => {
    const loop = heard('The name of the book is', 0.35);
    const surer = Array.from({ length: 6 }, () => heard('the name of the book is', 0.98)).flat();
    expect(isNonsense([...loop, ...surer])).toBe(true);
  });

  test('is not what a speaker says again and again in clear words', () => {
    const refrain = Array.from({ length: 6 }, () => heard('we shall never ever give up.', 0.95)).flat();
    expect(isNonsense(refrain)).toBe(false);
  });

  test('is not told by three words', () => {
    expect(isNonsense(heard('Hm, well, yes.', 0.2))).toBe(false);
  });
});
