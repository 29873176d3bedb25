import sharp, { type OverlayOptions, type Sharp } from 'sharp';
import type { HeadingLayout } from './heading-layout.ts';
import { type DrawnLine, drawLine } from './text-line.ts';
import { outlined } from './text-outline.ts';

export type HeadingOrder = {
  readonly layout: HeadingLayout;
  /** Families of the fonts to draw with, the first wanted most. */
  readonly families: readonly string[];
  readonly mostWidth: number;
  readonly mostHeight: number;
  readonly pngPath: string;
};

export type DrawnHeading = { readonly width: number; readonly height: number };

/** Draws a heading as a PNG that is transparent around it, scaled down where it would be larger than allowed. */
export async function drawHeading(order: HeadingOrder): Promise<DrawnHeading> {
  const { lines, size, fill } = order.layout;
  const drawn = await Promise.all(
    lines.map((text) => drawLine({ text, families: order.families, size, fill })),
  );
  const picture =
    order.layout.ground.kind === 'pill' ? onPills(drawn, order.layout) : withOutline(drawn, order.layout);
  const png = await (await picture).png().toBuffer();
  const { width, height } = await sharp(png)
    .resize({ width: order.mostWidth, height: order.mostHeight, fit: 'inside', withoutEnlargement: true })
    .png()
    .toFile(order.pngPath);
  return { width, height };
}

type Placed = { readonly line: DrawnLine; readonly x: number; readonly baseline: number };

/** Lines under one another, each in the middle of `width`; the first one's baseline is at `baseline`. */
function stacked(
  lines: readonly DrawnLine[],
  at: { width: number; baseline: number; pitch: number },
): readonly Placed[] {
  return lines.map((line, index) => ({
    line,
    x: Math.round((at.width - line.width) / 2),
    baseline: at.baseline + index * at.pitch,
  }));
}

function inkOf(lines: readonly DrawnLine[]): { width: number; above: number; below: number } {
  const most = (of: (line: DrawnLine) => number): number => Math.max(...lines.map(of));
  return {
    width: most(({ width }) => width),
    above: most(({ above }) => above),
    below: most(({ below }) => below),
  };
}

/** Lines in RGBA on a transparent ground. */
async function textLayer(placed: readonly Placed[], width: number, height: number): Promise<Buffer> {
  const layers: OverlayOptions[] = placed.map(({ line, x, baseline }) => {
    const top = baseline - line.baseline;
    const skipped = Math.max(0, -top);
    const rows = Math.min(line.height - skipped, height - Math.max(0, top));
    const data = line.data.subarray(skipped * line.width * 4, (skipped + rows) * line.width * 4);
    return {
      input: data,
      raw: { width: line.width, height: rows, channels: 4 },
      left: x,
      top: Math.max(0, top),
    };
  });
  return sharp({ create: { width, height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
    .composite(layers)
    .raw()
    .toBuffer();
}

/** Bold letters with an outline, and below both a soft shadow that lifts them off the picture. */
async function withOutline(lines: readonly DrawnLine[], { size, ground }: HeadingLayout): Promise<Sharp> {
  const radius = ground.kind === 'outline' ? ground.width : 0;
  const shadow = Math.round(size * 0.06);
  const margin = radius + 1;
  const ink = inkOf(lines);
  const pitch = Math.max(Math.round(size * 1.12), ink.above + ink.below + Math.round(radius * 0.8));
  const width = ink.width + 2 * margin;
  const height = ink.above + ink.below + (lines.length - 1) * pitch + 2 * margin + shadow;
  const placed = stacked(lines, { width, baseline: margin + ink.above, pitch });
  const text = await textLayer(placed, width, height);
  const opacity = Uint8Array.from({ length: width * height }, (_, index) => text[index * 4 + 3] ?? 0);
  const outline = outlined({ data: opacity, width, height }, radius);
  const raw = { width, height, channels: 4 } as const;
  const tinted = colored(outline, ground.color);
  const under = await sharp(colored(outline, '#000000', 0.45), { raw })
    .blur(Math.max(0.6, shadow / 2))
    .raw()
    .toBuffer();
  return sharp({
    create: { width, height, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  }).composite([
    { input: moved(under, width, height, shadow), raw, left: 0, top: 0 },
    { input: tinted, raw, left: 0, top: 0 },
    { input: text, raw, left: 0, top: 0 },
  ]);
}

function colored(opacity: Uint8Array, color: string, share = 1): Buffer {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  const data = Buffer.alloc(opacity.length * 4);
  for (const [index, value] of opacity.entries()) {
    data.set([red, green, blue, Math.round(value * share)], index * 4);
  }
  return data;
}

/** The picture some rows further down. */
function moved(data: Buffer, width: number, height: number, rows: number): Buffer {
  return Buffer.concat([Buffer.alloc(rows * width * 4), data.subarray(0, (height - rows) * width * 4)]);
}

/** Each line on a rounded pill as wide as it needs; pills of neighbouring lines run into one shape. */
async function onPills(lines: readonly DrawnLine[], { size, ground }: HeadingLayout): Promise<Sharp> {
  const padding = ground.kind === 'pill' ? ground.padding : 0;
  const above = Math.max(inkOf(lines).above, Math.round(size * 0.74)) + Math.round(size * 0.2);
  const below = Math.max(inkOf(lines).below, Math.round(size * 0.2)) + Math.round(size * 0.14);
  const pitch = above + below;
  const width = inkOf(lines).width + 2 * padding;
  const height = lines.length * pitch;
  const placed = stacked(lines, { width, baseline: above, pitch });
  const shape = pillShape(
    placed.map(({ line, x }) => ({ left: x - padding, right: x + line.width + padding })),
    pitch,
    size * 0.36,
  );
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><path d="${shape}" fill="${ground.color}"/></svg>`;
  const text = await textLayer(placed, width, height);
  return sharp(Buffer.from(svg)).composite([
    { input: text, raw: { width, height, channels: 4 }, left: 0, top: 0 },
  ]);
}

type Row = { readonly left: number; readonly right: number };

/** The outline of rows of equal height under one another, all corners rounded, inner ones too. Pure. */
export function pillShape(rows: readonly Row[], height: number, radius: number): string {
  const even = withoutSlivers(rows, radius);
  const right = even.flatMap(({ right: x }, index) => [
    { x, y: index * height },
    { x, y: (index + 1) * height },
  ]);
  const left = even
    .flatMap(({ left: x }, index) => [
      { x, y: index * height },
      { x, y: (index + 1) * height },
    ])
    .toReversed();
  const corners = [...right, ...left].filter(
    ({ x, y }, index, all) =>
      x !== all[(index + 1) % all.length]?.x || y !== all[(index + 1) % all.length]?.y,
  );
  return roundedPath(corners, radius);
}

/** Steps narrower than two corners cannot be round: such neighbours become equally wide. */
function withoutSlivers(rows: readonly Row[], radius: number): readonly Row[] {
  const even = rows.map((row) => ({ ...row }));
  for (let pass = 0; pass < rows.length; pass += 1) {
    for (let index = 1; index < even.length; index += 1) {
      const [one, other] = [even[index - 1], even[index]];
      if (one === undefined || other === undefined) continue;
      if (Math.abs(one.left - other.left) < 2 * radius)
        one.left = other.left = Math.min(one.left, other.left);
      if (Math.abs(one.right - other.right) < 2 * radius)
        one.right = other.right = Math.max(one.right, other.right);
    }
  }
  return even;
}

type Point = { readonly x: number; readonly y: number };

function roundedPath(corners: readonly Point[], radius: number): string {
  const steps = corners.map((corner, index) => {
    const before = toward(corner, corners.at(index - 1) ?? corner, radius);
    const after = toward(corner, corners[(index + 1) % corners.length] ?? corner, radius);
    return `${index === 0 ? 'M' : 'L'}${before.x.toFixed(1)},${before.y.toFixed(1)} Q${corner.x},${corner.y} ${after.x.toFixed(1)},${after.y.toFixed(1)}`;
  });
  return `${steps.join(' ')} Z`;
}

/** A point on the way to another corner, at most half of it. */
function toward(from: Point, to: Point, radius: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const part = length === 0 ? 0 : Math.min(radius, length / 2) / length;
  return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
}
