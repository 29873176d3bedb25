/** What laying out text takes from a TrueType or OpenType font. Lengths are in ems. */
export type FontFile = {
  /** As programs that draw know it (name 1): `Montserrat ExtraBold`. */
  readonly family: string;
  /** By Windows' metrics, which ASS renderers size a font by: above and below the baseline. */
  readonly winAscent: number;
  readonly winDescent: number;
  /** How high capitals, and small letters such as x, stand over the baseline. */
  readonly capHeight: number;
  readonly xHeight: number;
  /** How far a code point's glyph advances; undefined where the font does not have it. */
  readonly advance: (codePoint: number) => number | undefined;
};

/** A file is no font that can be used: `message` says why. */
export class FontUnusable extends Error {
  override readonly name = 'FontUnusable';
}

/**
 * Reads a font's names, metrics and character map (formats 4 and 12), as the OpenType specification has them.
 * Throws `FontUnusable`; `name` stands for the file in its message. Pure.
 */
export function parseFont(bytes: Buffer, name: string): FontFile {
  try {
    return readFont(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new FontUnusable(`${name} is not a TrueType or OpenType font that can be read (.ttf or .otf).`);
  }
}

function readFont(bytes: Buffer): FontFile {
  const table = tablesOf(bytes);
  const [head, hhea, os2] = [table('head'), table('hhea'), table('OS/2')];
  const unitsPerEm = head.readUInt16BE(18);
  // Only tables from version 2 on know these heights, and not all that do say them.
  const heightAt = (offset: number): number =>
    os2.readUInt16BE(0) >= 2 ? os2.readInt16BE(offset) / unitsPerEm : 0;
  const glyphOf = characterMap(table('cmap'));
  const advanceOf = advances(table('hmtx'), hhea.readUInt16BE(34));
  return {
    family: familyName(table('name')),
    winAscent: os2.readUInt16BE(74) / unitsPerEm,
    winDescent: os2.readUInt16BE(76) / unitsPerEm,
    capHeight: heightAt(88) > 0 ? heightAt(88) : 0.7,
    xHeight: heightAt(86) > 0 ? heightAt(86) : 0.5,
    advance: (codePoint) => {
      const glyph = glyphOf(codePoint);
      return glyph === 0 ? undefined : advanceOf(glyph) / unitsPerEm;
    },
  };
}

function tablesOf(bytes: Buffer): (tag: string) => Buffer {
  const found = new Map<string, Buffer>();
  for (let index = 0; index < bytes.readUInt16BE(4); index += 1) {
    const at = 12 + index * 16;
    const start = bytes.readUInt32BE(at + 8);
    found.set(
      bytes.toString('latin1', at, at + 4),
      bytes.subarray(start, start + bytes.readUInt32BE(at + 12)),
    );
  }
  return (tag) => {
    const table = found.get(tag);
    if (table === undefined) throw new RangeError(`no table ${tag}`);
    return table;
  };
}

/** Name 1 of the Windows platform, in English where it is there. */
function familyName(table: Buffer): string {
  const storage = table.readUInt16BE(4);
  const names = Array.from({ length: table.readUInt16BE(2) }, (_, index) => 6 + index * 12)
    .filter((at) => table.readUInt16BE(at) === 3 && table.readUInt16BE(at + 6) === 1)
    .toSorted(
      (a, b) => Number(table.readUInt16BE(b + 4) === 0x409) - Number(table.readUInt16BE(a + 4) === 0x409),
    );
  const [at] = names;
  if (at === undefined) throw new RangeError('no family name');
  const start = storage + table.readUInt16BE(at + 10);
  const utf16 = Buffer.from(table.subarray(start, start + table.readUInt16BE(at + 8)));
  return utf16.swap16().toString('utf16le');
}

/** Advances of all glyphs, in font units: those after the last one listed are as wide as that. */
function advances(table: Buffer, count: number): (glyph: number) => number {
  return (glyph) => table.readUInt16BE(Math.min(glyph, count - 1) * 4);
}

/** The glyph of a code point, 0 where there is none. */
function characterMap(table: Buffer): (codePoint: number) => number {
  const subtables = Array.from({ length: table.readUInt16BE(2) }, (_, index) =>
    table.subarray(table.readUInt32BE(4 + index * 8 + 4)),
  );
  const full = subtables.find((subtable) => subtable.readUInt16BE(0) === 12);
  const basic = subtables.find((subtable) => subtable.readUInt16BE(0) === 4);
  if (full !== undefined) return (codePoint) => glyphOfGroup(full, codePoint);
  if (basic === undefined) throw new RangeError('no character map that is known');
  return (codePoint) => (codePoint > 0xffff ? 0 : glyphOfSegment(basic, codePoint));
}

/** Format 12: groups of a first and a last code point, and the first one's glyph. */
function glyphOfGroup(table: Buffer, codePoint: number): number {
  const groupAt = (index: number): number => 16 + index * 12;
  const index = firstIndex(table.readUInt32BE(12), (at) => table.readUInt32BE(groupAt(at) + 4) >= codePoint);
  if (index === undefined || table.readUInt32BE(groupAt(index)) > codePoint) return 0;
  return table.readUInt32BE(groupAt(index) + 8) + codePoint - table.readUInt32BE(groupAt(index));
}

/** Format 4: segments with a delta, or with an offset into a list of glyphs. */
function glyphOfSegment(table: Buffer, codePoint: number): number {
  const doubled = table.readUInt16BE(6);
  const [ends, starts, deltas, offsets] = [14, 16 + doubled, 16 + doubled * 2, 16 + doubled * 3] as const;
  const index = firstIndex(doubled / 2, (at) => table.readUInt16BE(ends + at * 2) >= codePoint);
  if (index === undefined) return 0;
  const start = table.readUInt16BE(starts + index * 2);
  if (start > codePoint) return 0;
  const delta = table.readUInt16BE(deltas + index * 2);
  const offset = table.readUInt16BE(offsets + index * 2);
  if (offset === 0) return (codePoint + delta) & 0xffff;
  const glyph = table.readUInt16BE(offsets + index * 2 + offset + (codePoint - start) * 2);
  return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
}

/** The first of `count` ascending entries that reaches; undefined where none does. */
function firstIndex(count: number, reaches: (index: number) => boolean): number | undefined {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reaches(middle)) high = middle;
    else low = middle + 1;
  }
  return low < count ? low : undefined;
}
