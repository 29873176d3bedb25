import { describe, expect, test } from 'vitest';
import { captionLayout, pageSize } from '#workers/clip/overlays/caption-layout.ts';
import { captionScript, escaped } from '#workers/clip/overlays/caption-script.ts';
import { FontStore, fontNames } from '#workers/clip/overlays/font-store.ts';
import { textWidth } from '#workers/clip/overlays/measure-text.ts';
import { colorOf, contrast, outlineOf } from '#workers/clip/overlays/overlay-colors.ts';
import type { CaptionPlan } from '#workers/clip/overlays/overlay-plan.ts';
import { safeWidth } from '#workers/clip/overlays/safe-zone.ts';

const store = await FontStore.open();
const colors = ['white', 'black', 'red', 'orange', 'yellow', 'green', 'teal', 'blue', 'purple', 'pink'];

const words = ['the', 'right', 'answer'].map((text, index) => ({
  text,
  start_ms: 1_000 + index * 400,
  end_ms: 1_300 + index * 400,
}));
const plan: CaptionPlan = {
  color: 'yellow',
  font: 'Montserrat',
  pages: [{ start_ms: 1_000, end_ms: 2_300, lines: [words.slice(0, 2), words.slice(2)] }],
};

async function script(over: Partial<CaptionPlan> = {}): Promise<string> {
  const fonts = await store.stack(over.font ?? plan.font, '');
  return captionScript({ ...plan, ...over }, captionLayout(fonts), fonts);
}

const events = (text: string) => text.split('\n').filter((line) => line.startsWith('Dialogue:'));
/** An event's start, end and text. */
const parts = (event: string) => {
  const [, start, end, , , , , , , ...rest] = event.split(',');
  return { start, end, text: rest.join(',') };
};

describe('the script of captions', () => {
  test('has an event per word and line, one word highlighted at a time', async () => {
    const found = events(await script()).map(parts);
    expect(found.map(({ start, end }) => `${start}-${end}`)).toEqual([
      ...['0:00:01.00-0:00:01.40', '0:00:01.00-0:00:01.40'],
      ...['0:00:01.40-0:00:01.80', '0:00:01.40-0:00:01.80'],
      ...['0:00:01.80-0:00:02.30', '0:00:01.80-0:00:02.30'],
    ]);
    const highlighted = found.filter(({ text }) => text.includes('&H00DDFF&'));
    expect(highlighted).toHaveLength(3);
    expect(highlighted[1]?.text).toMatch(/\\1c&H00DDFF&\\3c&H000000&\}right$/);
  });

  test('changes nothing but colors within a page', async () => {
    const stripped = events(await script()).map((event) =>
      parts(event).text.replace(/\\[13]c&H[0-9A-F]{6}&/g, ''),
    );
    expect(new Set(stripped).size).toBe(2);
  });

  test('takes no tag from what was said', async () => {
    const evil = { text: '{\\pos(0,0)\\p1}m 0 0\\N\\h{', start_ms: 1_000, end_ms: 1_300 };
    const found = events(await script({ pages: [{ start_ms: 1_000, end_ms: 1_300, lines: [[evil]] }] }));
    expect(found).toHaveLength(1);
    expect(found[0]?.match(/\{[^}]*\}/g)).toHaveLength(2);
    expect(found[0]).not.toMatch(/\\p1|\\N|\\h/);
    expect(escaped('a\r\nDialogue: 0')).toBe('a Dialogue: 0');
  });

  test('shows a white highlight by graying the rest, and a black one by a light outline', async () => {
    expect(await script({ color: 'white' })).toContain('\\1c&HB4B4B4&');
    expect(await script({ color: 'black' })).toContain('\\1c&H101010&\\3c&HFFFFFF&');
  });

  test('sets a line of a very long word smaller, so that it fits the safe width', async () => {
    for (const font of fontNames) {
      const fonts = await store.stack(font, '');
      const layout = captionLayout(fonts);
      const word = { text: 'Donaudampfschifffahrtsgesellschaft', start_ms: 0, end_ms: 500 };
      const size = pageSize({ start_ms: 0, end_ms: 500, lines: [[word]] }, layout, fonts);
      expect(size * textWidth(word.text, fonts) + 2 * layout.outline).toBeLessThanOrEqual(safeWidth);
      expect(size).toBeLessThan(layout.size);
    }
  });
});

test.each(colors)('%s stands clear of its outline', (name) => {
  expect(contrast(colorOf(name), outlineOf(colorOf(name)))).toBeGreaterThanOrEqual(4.5);
});
