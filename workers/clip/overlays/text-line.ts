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
 * A bar in a color that no text has, three times as high as the text, stands at either end of the line: pango crops
 * to the ink, of which it does not count colored emoji, and the bars show where the baseline is. A bar goes from
 * -0.223 to 0.758 em in Noto Sans.
 */
const strut = { family: 'Noto Sans ExtraBold', color: '#ff00ff', scale: 3, aboveShare: 0.758 / 0.981 };

/** Draws one line with pango, which knows all scripts and colored emoji. */
export async function drawLine(order: LineOrder): Promise<DrawnLine> {
  const { data, info } = await sharp({
    text: { text: markup(order), rgba: true, dpi: 72, wrap: 'none' },
  })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return betweenStruts(data, info.width, info.height);
}

function markup({ text, families, size, fill }: LineOrder): string {
  const points = (pixels: number): number => Math.round(pixels * 1024);
  const bar = `<span font_family="${strut.family}" size="${points(size * strut.scale)}" foreground="${strut.color}">|</span>`;
  const words = `<span font_family="${families.map(escaped).join(',')}" size="${points(size)}" foreground="${fill}">\u00a0${escaped(text)}\u00a0</span>`;
  return `${bar}${words}${bar}`;
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

function betweenStruts(data: Buffer, width: number, height: number): DrawnLine {
  const rows = Array.from({ length: height }, (_, y) => y);
  const columns = Array.from({ length: width }, (_, x) => x);
  const alpha = (x: number, y: number): number => data[(y * width + x) * 4 + 3] ?? 0;
  const isStrut = (x: number, y: number): boolean => isStrutColor(data, (y * width + x) * 4);
  const heights = columns.map((x) => rows.filter((y) => isStrut(x, y)).length);
  // Nothing else is so high: a bar's columns are those that are full of its color.
  const highest = Math.max(...heights);
  const isText = (x: number): boolean => (heights[x] ?? 0) < highest / 2;
  const bar = columns.findIndex((x) => !isText(x));
  const otherBar = columns.findLastIndex((x) => !isText(x));
  const first = columns.findIndex((x) => x > bar && isText(x));
  const last = columns.findLastIndex((x) => x < otherBar && isText(x));
  const barRows = rows.filter((y) => isStrut(bar, y));
  const [top, bottom] = [barRows[0] ?? 0, (barRows.at(-1) ?? 0) + 1];
  const baseline = Math.round(top + (bottom - top) * strut.aboveShare);
  // A bar's smooth edge is not text.
  const inked = columns.filter((x) => x > first + 1 && x < last - 1 && rows.some((y) => alpha(x, y) > 0));
  const [from, to] = [inked[0] ?? 0, (inked.at(-1) ?? 0) + 1];
  const inkedRows = rows.filter((y) => inked.some((x) => alpha(x, y) > 0));
  const line = rows.map((y) => data.subarray((y * width + from) * 4, (y * width + to) * 4));
  return {
    data: Buffer.concat(line),
    width: to - from,
    height,
    baseline,
    above: Math.max(0, baseline - (inkedRows[0] ?? baseline)),
    below: Math.max(0, (inkedRows.at(-1) ?? baseline) + 1 - baseline),
  };
}

function isStrutColor(data: Buffer, at: number): boolean {
  const [red = 0, green = 255, blue = 0, alpha = 0] = data.subarray(at, at + 4);
  return alpha > 200 && red > 200 && green < 60 && blue > 200;
}
