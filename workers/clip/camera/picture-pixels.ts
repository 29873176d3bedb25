import type { Box } from './camera-plan.ts';

export type Size = { readonly width: number; readonly height: number };

/** The nearest even number that is no less than `least` and no more than `most` (itself, if odd, rounded down). Pure. */
export function evenAtLeast(value: number, least: number, most: number): number {
  const largest = Math.max(least, Math.floor(most / 2) * 2);
  return Math.min(largest, Math.max(least, Math.round(value / 2) * 2));
}

/** A box of the picture as shown, in the pixels that filters see. Pure. */
export function storedBox(box: Box, { stored, shown }: { readonly stored: Size; readonly shown: Size }): Box {
  const [across, down] = [stored.width / shown.width, stored.height / shown.height];
  return { x: box.x * across, y: box.y * down, width: box.width * across, height: box.height * down };
}

/** The largest box of `output`'s shape in the middle of `area`. Pure. */
export function coverBox(area: Box, output: Size): Box {
  const width = Math.min(area.width, (area.height * output.width) / output.height);
  const height = Math.min(area.height, (area.width * output.height) / output.width);
  return { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
}

/** The filters that bring a picture to exactly this size, in square pixels. Pure. */
export function scaledTo({ width, height }: Size): string {
  return `scale=${width}:${height}:flags=bicubic,setsar=1`;
}
