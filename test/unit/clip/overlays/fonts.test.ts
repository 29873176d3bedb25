import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FontUnusable } from '#workers/clip/overlays/font-file.ts';
import { FontStore, fontNames } from '#workers/clip/overlays/font-store.ts';
import { directionMark, textWidth } from '#workers/clip/overlays/measure-text.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fonts-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bundled = new URL('../../../../workers/clip/overlays/fonts/', import.meta.url);
const families = async (store: FontStore, name: string, text = '') =>
  (await store.stack(name, text)).map(({ family }) => family);

describe('the fonts', () => {
  test('are eight, by the families that their files name', async () => {
    const store = await FontStore.open();
    const first = await Promise.all(fontNames.map(async (name) => [name, (await families(store, name))[0]]));
    expect(Object.fromEntries(first)).toEqual({
      'Proxima Nova': 'Figtree ExtraBold',
      Montserrat: 'Montserrat ExtraBold',
      'Luckiest Guy': 'Luckiest Guy',
      Everlasting: 'Dancing Script',
      Komika: 'Bangers',
      Burbank: 'Lilita One',
      'Bebas Neue': 'Bebas Neue',
      Anton: 'Anton',
    });
  });

  test('bring others for what they do not have, and only those', async () => {
    const store = await FontStore.open();
    expect(await families(store, 'Anton', 'plain')).toEqual(['Anton']);
    expect(await families(store, 'Anton', 'Привет שלום 🔥')).toEqual([
      'Anton',
      'Noto Sans ExtraBold',
      'Noto Sans Hebrew ExtraBold',
      'Twemoji Mozilla',
    ]);
  });

  test('draw Chinese characters as the text’s own language does', async () => {
    const store = await FontStore.open();
    expect(await families(store, 'Montserrat', '你好')).toContain('Noto Sans SC');
    expect(await families(store, 'Montserrat', '日本語です')).toEqual([
      'Montserrat ExtraBold',
      'Noto Sans JP',
    ]);
    expect(await families(store, 'Montserrat', '한국어')).toEqual(['Montserrat ExtraBold', 'Noto Sans KR']);
  });

  test('of the operator’s folder go before the bundled ones, by the interface’s name', async () => {
    await copyFile(new URL('Anton-Regular.ttf', bundled), join(folder, 'proxima-nova.TTF'));
    await writeFile(join(folder, 'readme.txt'), 'not a font');
    const store = await FontStore.open(folder);
    const [own] = await store.stack('Proxima Nova', '');
    expect([own.family, basename(own.path)]).toEqual(['Anton', 'proxima-nova.TTF']);
    expect(await families(store, 'Komika')).toEqual(['Bangers']);
  });

  test('of other names in that folder have what no bundled one has', async () => {
    const further = join(folder, 'Some Script.ttf');
    await copyFile(new URL('Montserrat-ExtraBold.ttf', bundled), further);
    const store = await FontStore.open(folder);
    expect(await families(store, 'Anton', 'plain')).toEqual(['Anton']);
    // Of the bundled fonts only Montserrat has this letter, and it is asked for Anton.
    expect((await store.stack('Anton', 'Ꟛ')).map(({ path }) => path)).toContain(further);
    await writeFile(further, 'no font');
    await expect(FontStore.open(folder)).rejects.toThrow(/Some Script\.ttf/);
  });

  test('that cannot be read stop the start, with the file’s name', async () => {
    await writeFile(
      join(folder, 'Komika.ttf'),
      (await readFile(new URL('Bangers-Regular.ttf', bundled))).subarray(0, 200),
    );
    await expect(FontStore.open(folder)).rejects.toThrow(/Komika\.ttf is not a TrueType/);
    await expect(FontStore.open(join(folder, 'none'))).rejects.toThrow(FontUnusable);
  });
});

describe('measuring text', () => {
  test('adds up advances, takes an emoji as one, and marks as none', async () => {
    const fonts = await (await FontStore.open()).stack('Montserrat', '👩‍💻é');
    expect(textWidth('ab', fonts)).toBeCloseTo(textWidth('a', fonts) + textWidth('b', fonts));
    expect(textWidth('👩‍💻', fonts)).toBe(textWidth('🔥', fonts));
    expect(textWidth('e\u0301', fonts)).toBe(textWidth('e', fonts));
    expect(textWidth('W', fonts)).toBeGreaterThan(2 * textWidth('i', fonts));
  });

  test('a text’s direction is that of most of its letters', () => {
    expect(directionMark('API of the year')).toBe('');
    expect(directionMark('API למה רוב האנשים נכשלים')).toBe('\u200f');
    expect(directionMark('they said שלום again')).toBe('\u200e');
  });
});
