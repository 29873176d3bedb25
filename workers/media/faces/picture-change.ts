import type { RgbFrame } from './rgb-frame.ts';

/** Every so many pixels across and down, one is compared. */
const grid = 16;
/** Mean difference of the compared pixels, of 255: people who move stay below, cuts lie above. */
const mostDifference = 10;

/** Tells whether a frame shows something else than the frame before. */
export class PictureChange {
  #before: Uint8Array | undefined;

  /** Compares the next frame with the last one; the first is new. */
  isNewPicture(frame: RgbFrame): boolean {
    const pixels = sparsePixels(frame);
    const before = this.#before;
    this.#before = pixels;
    if (before === undefined || before.length !== pixels.length) return true;
    let sum = 0;
    for (const [at, pixel] of pixels.entries()) sum += Math.abs(pixel - (before[at] ?? 0));
    return sum / pixels.length > mostDifference;
  }
}

/** The green of some pixels: it is most of what the eye sees as brightness. */
function sparsePixels({ data, width, height }: RgbFrame): Uint8Array {
  const [columns, rows] = [Math.ceil(width / grid), Math.ceil(height / grid)];
  const pixels = new Uint8Array(columns * rows);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      pixels[row * columns + column] = data[(row * grid * width + column * grid) * 3 + 1] as number;
    }
  }
  return pixels;
}
