import sharp from 'sharp';
import { timeLabel } from './time-label.ts';

/** A frame as raw RGB, when it is shown, and what is drawn on it: an SVG or PNG of at most its size. */
export type GridFrame = {
  readonly pixels: Buffer;
  readonly atMs: number;
  readonly drawing?: Buffer;
};

export type FrameGrid = {
  readonly pngPath: string;
  /** Of each frame, in pixels. */
  readonly width: number;
  readonly height: number;
  readonly columns: number;
};

const gap = 6;

/** Writes frames side by side into a PNG, each with its time. */
export async function writeFrameGrid(frames: readonly GridFrame[], grid: FrameGrid): Promise<void> {
  const columns = Math.min(grid.columns, frames.length);
  const rows = Math.ceil(frames.length / columns);
  const cells = frames.flatMap(({ pixels, atMs, drawing }, index) => {
    const left = gap + (index % columns) * (grid.width + gap);
    const top = gap + Math.floor(index / columns) * (grid.height + gap);
    const raw = { width: grid.width, height: grid.height, channels: 3 as const };
    const drawn = drawing === undefined ? [] : [{ input: drawing, left, top }];
    const label = { input: Buffer.from(timeLabel(atMs)), left: left + 4, top: top + 4 };
    return [{ input: pixels, raw, left, top }, ...drawn, label];
  });
  const width = gap + columns * (grid.width + gap);
  const height = gap + rows * (grid.height + gap);
  await sharp({ create: { width, height, channels: 3, background: '#202020' } })
    .composite(cells)
    .png()
    .toFile(grid.pngPath);
}

/** The whole frames that lie one after the other in raw RGB. Pure. */
export function framesIn(bytes: Buffer, size: { readonly width: number; readonly height: number }): Buffer[] {
  const frameBytes = size.width * size.height * 3;
  return Array.from({ length: Math.floor(bytes.length / frameBytes) }, (_, index) =>
    bytes.subarray(index * frameBytes, (index + 1) * frameBytes),
  );
}
