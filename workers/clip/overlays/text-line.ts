import sharp from 'sharp';

/** A drawn line of text: RGBA, without empty columns at its sides. */
export type DrawnLine = {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
  /** The baseline's row, counted from the picture's top. */
  readonly baseline: number;
  /** How far ink goes above and below the baseline. */
  readonly above: number;
  readonly below: number;
};

export type LineOrder = {
  readonly text: string;
  readonly families: readonly string[];
  /** The em's size, in pixels. */
  readonly size: number;
  /** `#rrggbb` */
  readonly fill: string;
};

/**
 * A bar in a color that no text has, three times as high as the text, stands at the line's start: pango crops to
 * the ink, and this shows where the baseline is. It goes from -0.223 to 0.758 em in Noto Sans.
 */
const strut = {
  family: 'Noto Sans ExtraBold',
  text: '|',
  color: '#ff00ff',
  scale: 3,
  aboveShare: 0.758 / 0.981,
};

/** Draws one line with pango, which knows all scripts and colored emoji. */
export async function drawLine(order: LineOrder): Promise<DrawnLine> {
  const { data, info } = await sharp({
    text: { text: markup(order), rgba: true, dpi: 72, wrap: 'none' },
  })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return withoutStrut(data, info.width, info.height);
}

function markup({ text, families, size, fill }: LineOrder): string {
  const points = (pixels: number): number => Math.round(pixels * 1024);
  const bar = `<span font_family="${strut.family}" size="${points(size * strut.scale)}" foreground="${strut.color}">${strut.text}</span>`;
  const words = `<span font_family="${families.map(escaped).join(',')}" size="${points(size)}" foreground="${fill}">\u00a0${escaped(text)}</span>`;
  return `${bar}${words}`;
}

function escaped(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&apos;',
  };
  return text.replace(/[&<>"']/g, (found) => entities[found] ?? '');
}

function withoutStrut(data: Buffer, width: number, height: number): DrawnLine {
  const alpha = (x: number, y: number): number => data[(y * width + x) * 4 + 3] ?? 0;
  const isStrut = (x: number, y: number): boolean => {
    const at = (y * width + x) * 4;
    return (
      alpha(x, y) > 200 && (data[at] ?? 0) > 200 && (data[at + 1] ?? 255) < 60 && (data[at + 2] ?? 0) > 200
    );
  };
  const rows = Array.from({ length: height }, (_, y) => y);
  const columns = Array.from({ length: width }, (_, x) => x);
  // The strut is the tallest there is: its columns are those with most of its color.
  const counts = columns.map((x) => rows.filter((y) => isStrut(x, y)).length);
  const tallest = Math.max(...counts);
  const bar = columns.filter((x) => (counts[x] ?? 0) > tallest * 0.5);
  const [left, right] = [(bar[0] ?? 0) - 2, (bar.at(-1) ?? 0) + 2];
  const barRows = rows.filter((y) => isStrut(bar[Math.floor(bar.length / 2)] ?? 0, y));
  const [top, bottom] = [barRows[0] ?? 0, (barRows.at(-1) ?? 0) + 1];
  const baseline = Math.round(top + (bottom - top) * strut.aboveShare);
  const inked = columns.filter((x) => (x < left || x > right) && rows.some((y) => alpha(x, y) > 0));
  const isAtEnd = left > width / 2;
  const kept = inked.filter((x) => (isAtEnd ? x < left : x > right));
  const [from, to] = [kept[0] ?? 0, (kept.at(-1) ?? 0) + 1];
  const inkRows = rows.filter((y) => kept.some((x) => alpha(x, y) > 0));
  const line = Buffer.alloc((to - from) * height * 4);
  for (const y of rows) data.copy(line, y * (to - from) * 4, (y * width + from) * 4, (y * width + to) * 4);
  return {
    data: line,
    width: to - from,
    height,
    baseline,
    above: Math.max(0, baseline - (inkRows[0] ?? baseline)),
    below: Math.max(0, (inkRows.at(-1) ?? baseline) + 1 - baseline),
  };
}
