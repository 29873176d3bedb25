import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type FontFile, FontUnusable, parseFont } from './font-file.ts';

const bundledFolder = join(import.meta.dirname, 'fonts');

/** The interface's fonts and the files that they are drawn with. Half of them are commercial: those have substitutes. */
const bundledFonts: Readonly<Record<string, string>> = {
  'Proxima Nova': 'Figtree-ExtraBold.ttf',
  Montserrat: 'Montserrat-ExtraBold.ttf',
  'Luckiest Guy': 'LuckiestGuy-Regular.ttf',
  Everlasting: 'DancingScript-Bold.ttf',
  Komika: 'Bangers-Regular.ttf',
  Burbank: 'LilitaOne-Regular.ttf',
  'Bebas Neue': 'BebasNeue-Regular.ttf',
  Anton: 'Anton-Regular.ttf',
};

export const fontNames: readonly string[] = Object.keys(bundledFonts);

/** For what a font does not have, in this order; then Chinese, Japanese, Korean, and emoji. */
const fallbacks = [
  'NotoSans-ExtraBold.ttf',
  'NotoSansArabic-ExtraBold.ttf',
  'NotoSansHebrew-ExtraBold.ttf',
  'NotoSansThai-ExtraBold.ttf',
  'NotoSansDevanagari-ExtraBold.ttf',
] as const;

export type LoadedFont = FontFile & { readonly path: string };

/** The font asked for, and after it those that have what it does not. */
export type FontStack = readonly [LoadedFont, ...LoadedFont[]];

/**
 * The fonts that text is drawn with: an operator's own by the interface's name (`Proxima Nova.otf`) before the
 * bundled ones, and never the machine's.
 */
export class FontStore {
  readonly #own: OwnFonts;
  readonly #loaded = new Map<string, Promise<LoadedFont>>();

  private constructor(own: OwnFonts) {
    this.#own = own;
  }

  /**
   * `folder` is the operator's (`FONTS_DIR`). Throws `FontUnusable` where it, or a font in it, cannot be used.
   */
  static async open(folder?: string): Promise<FontStore> {
    const own = folder === undefined ? { named: new Map(), further: [] } : await ownFonts(folder);
    const store = new FontStore(own);
    await Promise.all(fontNames.map((name) => store.stack(name, '')));
    await Promise.all(own.further.map((path) => store.#load(path)));
    return store;
  }

  /**
   * The fonts to draw `text` with: the one asked for, and those of the others that have what is missing before
   * them. Throws for a name that the interface does not have.
   */
  async stack(name: string, text: string): Promise<FontStack> {
    const bundled = bundledFonts[name];
    if (bundled === undefined) throw new Error(`There is no font ${name}.`);
    const stack: [LoadedFont, ...LoadedFont[]] = [
      await this.#load(this.#own.named.get(spelling(name)) ?? join(bundledFolder, bundled)),
    ];
    let missing = [...new Set(text)].filter((point) => !isInvisible(point) && !has(stack[0], point));
    const others = [...inOrderFor(text).map((file) => join(bundledFolder, file)), ...this.#own.further];
    for (const path of others) {
      if (missing.length === 0) break;
      const font = await this.#load(path);
      const left = missing.filter((point) => !has(font, point));
      if (left.length < missing.length) stack.push(font);
      missing = left;
    }
    return stack;
  }

  /** The font of the bar by which drawn lines are aligned. */
  strut(): Promise<LoadedFont> {
    return this.#load(join(bundledFolder, fallbacks[0]));
  }

  #load(path: string): Promise<LoadedFont> {
    const loading = this.#loaded.get(path) ?? loadFont(path);
    this.#loaded.set(path, loading);
    return loading;
  }
}

/** An operator's fonts: those that stand for one of the interface's, and others for what no bundled one has. */
type OwnFonts = { readonly named: ReadonlyMap<string, string>; readonly further: readonly string[] };

async function ownFonts(folder: string): Promise<OwnFonts> {
  const files = await readdir(folder).catch((error: unknown) => {
    throw new FontUnusable(`FONTS_DIR is ${folder}, which cannot be read.`, { cause: error });
  });
  const known = new Set(fontNames.map(spelling));
  const fonts = files
    .filter((file) => /^\.[ot]tf$/i.test(extname(file)))
    .toSorted()
    .map((file) => ({ name: spelling(basename(file, extname(file))), path: join(folder, file) }));
  return {
    named: new Map(fonts.filter(({ name }) => known.has(name)).map(({ name, path }) => [name, path])),
    further: fonts.filter(({ name }) => !known.has(name)).map(({ path }) => path),
  };
}

/** `Proxima Nova`, `proxima-nova` and `ProximaNova` are one. */
function spelling(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** The same characters have other shapes in Chinese, Japanese and Korean. */
function inOrderFor(text: string): readonly string[] {
  const east = ['NotoSansSC-Bold.ttf', 'NotoSansJP-Bold.ttf', 'NotoSansKR-Bold.ttf'];
  const isJapanese = /[\p{sc=Hiragana}\p{sc=Katakana}]/u.test(text);
  const first = isJapanese ? 1 : /\p{sc=Hangul}/u.test(text) ? 2 : 0;
  const [chosen = ''] = east.splice(first, 1);
  return [...fallbacks, chosen, ...east, 'TwemojiMozilla.ttf'];
}

const has = (font: FontFile, point: string): boolean => font.advance(point.codePointAt(0) ?? 0) !== undefined;

/** Joiners, selectors and white space, which fonts need not have. */
const isInvisible = (point: string): boolean => /[\p{Cf}\p{Z}\p{Cc}]|\ufe0f/u.test(point);

async function loadFont(path: string): Promise<LoadedFont> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new FontUnusable(`The font ${path} cannot be read.`, { cause: error });
  });
  return { ...parseFont(bytes, path), path };
}
