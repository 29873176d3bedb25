import sharp from 'sharp';
import { timeLabel } from '../../media/time-label.ts';
import { readPatch, type YuvFrame } from './yuv-patch.ts';

const columns = 6;
const cellWidth = 320;
const rows = 2;

/** Collects some frames before and after the swap, evenly spread over those with a face, and draws them. */
export class BeforeAfterSheet {
  readonly #wanted: ReadonlySet<number>;
  readonly #before = new Map<number, Buffer>();
  readonly #after = new Map<number, Buffer>();

  constructor(segments: readonly { readonly first_frame: number; readonly end_frame: number }[]) {
    const total = segments.reduce((sum, each) => sum + each.end_frame - each.first_frame, 0);
    const nth = (number: number): number => {
      let left = number;
      for (const { first_frame, end_frame } of segments) {
        if (left < end_frame - first_frame) return first_frame + left;
        left -= end_frame - first_frame;
      }
      return -1;
    };
    this.#wanted = new Set(
      Array.from({ length: columns }, (_, column) => nth(Math.floor(((column + 0.5) * total) / columns))),
    );
  }

  wants(frame: number): boolean {
    return this.#wanted.has(frame);
  }

  async add(side: 'before' | 'after', number: number, frame: YuvFrame): Promise<void> {
    const { width, height } = frame;
    const { data, ...size } = readPatch(frame, {
      x: width / 2,
      y: height / 2,
      side: 2 * Math.max(width, height),
    });
    const small = await sharp(data, { raw: { width: size.width, height: size.height, channels: 3 } })
      .resize({ width: cellWidth, height: cellWidth, fit: 'contain', background: '#000000' })
      .png({ compressionLevel: 1 })
      .toBuffer();
    (side === 'before' ? this.#before : this.#after).set(number, small);
  }

  /** Writes the grid as a PNG: before above, after below, with times. */
  async write(path: string, timeMs: (frame: number) => number): Promise<void> {
    const numbers = [...this.#after.keys()].toSorted((a, b) => a - b);
    const cells = numbers.flatMap((number, column) =>
      [this.#before.get(number), this.#after.get(number)].flatMap((input, row) =>
        input === undefined ? [] : [{ input, left: column * cellWidth, top: row * cellWidth }],
      ),
    );
    const labels = numbers.map((number, column) => ({
      input: Buffer.from(timeLabel(timeMs(number))),
      left: column * cellWidth,
      top: 2,
    }));
    const size = { width: Math.max(1, numbers.length) * cellWidth, height: rows * cellWidth };
    await sharp({ create: { ...size, channels: 3, background: '#000000' } })
      .composite([...cells, ...labels])
      .png()
      .toFile(path);
  }
}
