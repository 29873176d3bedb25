import { describe, expect, test } from 'vitest';
import { FontStore, fontNames } from '#workers/clip/overlays/font-store.ts';
import { headingLayout, headingPlace } from '#workers/clip/overlays/heading-layout.ts';
import { textWidth } from '#workers/clip/overlays/measure-text.ts';
import { contrast } from '#workers/clip/overlays/overlay-colors.ts';
import type { HeadingPlan } from '#workers/clip/overlays/overlay-plan.ts';
import { planHeading } from '#workers/clip/overlays/plan-heading.ts';
import { safeWidth, safeZone } from '#workers/clip/overlays/safe-zone.ts';
import { lineBreaker } from '#workers/clip/overlays/wrap-text.ts';

const store = await FontStore.open();
const height = safeZone.bottom - safeZone.top;
const montserrat = await store.stack('Montserrat', '');

function plan(text: string, over: Partial<HeadingPlan> = {}): HeadingPlan {
  const planned = planHeading(text, over, 10_000);
  if (planned === null) throw new Error('no heading');
  return planned;
}

describe('a heading’s plan', () => {
  test('fills in the interface’s defaults and shows for the whole clip', () => {
    expect(planHeading('Hello', null, 12_345.4)).toEqual({
      text: 'Hello',
      style: 'stroke',
      color: 'white',
      font: 'Montserrat',
      position: 'top',
      bg_color: 'black',
      start_ms: 0,
      end_ms: 12_345,
    });
  });

  test('is none without anything to draw', () => {
    expect(planHeading(null, null, 1_000)).toBeNull();
    expect(planHeading(' \n\t\u202e ', null, 1_000)).toBeNull();
  });

  test('keeps line breaks and joined emoji, and leaves out what is not seen', () => {
    expect(plan('one\r\n\r\n  two\u0000   three \u202eevil👩‍💻').text).toBe('one\ntwo three evil👩‍💻');
  });
});

describe('wrapping', () => {
  test('makes lines even', () => {
    expect(lineBreaker('one two three four', montserrat)(7).lines).toEqual(['one two', 'three four']);
  });

  test('breaks a word only where it is wider than a line', () => {
    const { lines, isBroken } = lineBreaker('a supercalifragilistic word', montserrat)(6);
    expect(isBroken).toBe(true);
    expect(lines.join('').replaceAll(' ', '')).toBe('asupercalifragilisticword');
    for (const line of lines) expect(textWidth(line, montserrat)).toBeLessThanOrEqual(6);
  });

  test('breaks between characters where there are no spaces, but not before a full stop', async () => {
    const fonts = await store.stack('Montserrat', '人生は短い。');
    const { lines, isBroken } = lineBreaker('人生は短い。芸術は長い。', fonts)(5);
    expect(isBroken).toBe(false);
    for (const line of lines) expect(line).not.toMatch(/^。/);
  });
});

describe('a heading’s layout', () => {
  const texts = [
    'Short',
    'The one habit that changed how I work forever',
    `${'Nobody tells you this about moving to a new country '.repeat(9)}end`,
    'W'.repeat(500),
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  ];

  test.each(fontNames)('of up to 500 characters fits the safe zone in %s', async (font) => {
    for (const text of texts) {
      for (const style of ['stroke', 'instagram']) {
        const fonts = await store.stack(font, text);
        const layout = headingLayout(plan(text, { style, font }), fonts, height);
        const widest = Math.max(...layout.lines.map((line) => textWidth(line, fonts) * layout.size));
        expect(widest).toBeLessThanOrEqual(safeWidth);
        expect(layout.lines.length * layout.size).toBeLessThanOrEqual(height);
        expect(layout.size).toBeGreaterThanOrEqual(24);
      }
    }
  });

  test('is as large as it can be: short texts larger, up to five lines at a size that reads at a glance', () => {
    const sizes = texts.slice(0, 3).map((text) => headingLayout(plan(text), montserrat, height).size);
    expect(sizes.toSorted((a, b) => b - a)).toEqual(sizes);
    expect(sizes[0]).toBe(92);
    const five = headingLayout(plan('words that go on '.repeat(6)), montserrat, height);
    expect(five.lines.length).toBeLessThanOrEqual(5);
    expect(five.size).toBeGreaterThanOrEqual(44);
  });

  test('the pill’s text contrasts by itself, and black text gets a light outline', () => {
    for (const bg_color of ['black', 'white']) {
      const { fill, ground } = headingLayout(
        plan('x', { style: 'instagram', bg_color, color: 'red' }),
        montserrat,
        height,
      );
      expect(contrast(fill, ground.color)).toBe(21);
    }
    expect(headingLayout(plan('x', { color: 'black' }), montserrat, height).ground.color).toBe('#ffffff');
  });
});

describe('a heading’s place', () => {
  const drawn = { width: 600, height: 300 };

  test('is at the top, in the middle or at the bottom of what is safe', () => {
    expect(headingPlace('top', drawn, null)).toEqual({ x: 240, y: 250 });
    expect(headingPlace('middle', drawn, null)).toEqual({ x: 240, y: 810 });
    expect(headingPlace('bottom', drawn, null)).toEqual({ x: 240, y: 1_200 });
  });

  test('gives way to captions, but for the bottom, where captions give way', () => {
    const tall = { width: 600, height: 900 };
    expect(headingPlace('middle', tall, 1_300).y + 900).toBeLessThan(1_300);
    expect(headingPlace('bottom', drawn, 1_300).y).toBe(1_200);
  });

  test('is below what it may not cover, where there is room', () => {
    expect(headingPlace('top', drawn, null, 700).y).toBe(700);
    expect(headingPlace('top', { width: 600, height: 1_000 }, null, 700).y).toBe(500);
  });
});
