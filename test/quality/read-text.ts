import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';

/** Letters are lighter than all around them, or darker: nothing else of a picture is left to read. */
const isLetter = [(gray: number): boolean => gray > 200, (gray: number): boolean => gray < 56];

/** What tesseract, where it is installed, reads in a picture: in its light parts, and in its dark ones. */
export async function readText(picture: Buffer, folder: string): Promise<readonly string[]> {
  const { data, info } = await sharp(picture).greyscale().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return Promise.all(
    isLetter.map(async (takes, index) => {
      const path = join(folder, `read-${index}.png`);
      const letters = Buffer.from(data.map((gray) => (takes(gray) ? 0 : 255)));
      await sharp(letters, { raw: { width, height, channels: 1 } })
        .png()
        .toFile(path);
      const { stdout } = await promisify(execFile)('tesseract', [path, '-', '--psm', '6'], {
        timeout: 60_000,
      });
      return stdout.replace(/\s+/g, ' ').trim();
    }),
  );
}

/** How many characters are wrong, added or lost in the better of the readings, spaces and case aside. */
export function characterErrors(reference: string, readings: readonly string[]): number {
  return Math.min(...readings.map((read) => distance(reference, read)));
}

function distance(reference: string, read: string): number {
  const [one, other] = [reference, read].map((text) => [...text.toLowerCase().replace(/\s/g, '')]);
  const columns = other ?? [];
  let row = columns.map((_, index) => index + 1);
  (one ?? []).forEach((character, index) => {
    let [diagonal, left] = [index, index + 1];
    row = columns.map((wanted, column) => {
      const above = row[column] ?? 0;
      const cost = Math.min(above + 1, left + 1, diagonal + (wanted === character ? 0 : 1));
      [diagonal, left] = [above, cost];
      return cost;
    });
  });
  return row.at(-1) ?? reference.length;
}
