/** Glyphs of 3x5 dots, a row each: labels must not depend on the fonts of the machine. */
const glyphs: Readonly<Record<string, readonly string[]>> = {
  '0': ['###', '# #', '# #', '# #', '###'],
  '1': [' # ', '## ', ' # ', ' # ', '###'],
  '2': ['###', '  #', '###', '#  ', '###'],
  '3': ['###', '  #', ' ##', '  #', '###'],
  '4': ['# #', '# #', '###', '  #', '  #'],
  '5': ['###', '#  ', '###', '  #', '###'],
  '6': ['###', '#  ', '###', '# #', '###'],
  '7': ['###', '  #', ' # ', ' # ', ' # '],
  '8': ['###', '# #', '###', '# #', '###'],
  '9': ['###', '# #', '###', '  #', '###'],
  ':': ['   ', ' # ', '   ', ' # ', '   '],
  '.': ['   ', '   ', '   ', '   ', ' # '],
};

const dot = 3;

/** A small SVG with a time such as `0:07.5`, white on black. Pure. */
export function timeLabel(ms: number): string {
  const tenths = Math.floor(ms / 100);
  const text = `${Math.floor(tenths / 600)}:${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`;
  const dots = [...text].flatMap((character, column) =>
    (glyphs[character] ?? []).flatMap((row, y) =>
      [...row].flatMap((cell, x) => (cell === '#' ? [square(1 + column * 4 + x, 1 + y)] : [])),
    ),
  );
  const [width, height] = [(text.length * 4 + 1) * dot, 7 * dot];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%"/>${dots.join('')}</svg>`;
}

function square(x: number, y: number): string {
  return `<rect x="${x * dot}" y="${y * dot}" width="${dot}" height="${dot}" fill="#fff"/>`;
}
