import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const picturesPerSecond = 10;

/** A small video of exactly so many seconds, in the container that its name asks for. */
export async function makeVideo(
  path: string,
  seconds: number,
  { rate = picturesPerSecond }: { readonly rate?: number } = {},
): Promise<void> {
  const codec = path.endsWith('.webm')
    ? ['-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8']
    : ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '0'];
  await run('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi'],
    ...['-i', `testsrc2=s=64x36:r=${rate}:d=${seconds}`],
    ...codec,
    ...['-g', String(2 * rate)],
    // Without an edit list the header's word is the only one beside the packets.
    ...(/\.(mp4|mov)$/.test(path) ? ['-use_editlist', '0'] : []),
    path,
  ]);
}

/** A copy of a video of which every header says that it is `claimedSeconds` long. */
export async function lyingCopy(from: string, to: string, claimedSeconds: number): Promise<void> {
  const bytes = await readFile(from);
  const lie = /\.(mp4|mov)$/.test(to) ? lieInMp4 : /\.avi$/.test(to) ? lieInAvi : lieInMatroska;
  const lies = lie(bytes, claimedSeconds);
  if (lies < 2) throw new Error(`${to} has ${lies} places that say its length; expected more.`);
  await writeFile(to, bytes);
}

/** The places where a four-letter name stands. */
function* placesOf(bytes: Buffer, name: string | Buffer): Generator<number> {
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) yield at;
}

function lieInMp4(bytes: Buffer, seconds: number): number {
  let lies = 0;
  // Version 0 of the boxes: after the name come 12 bytes, a time scale and a duration.
  for (const name of ['mvhd', 'mdhd']) {
    for (const at of placesOf(bytes, name)) {
      bytes.writeUInt32BE(Math.round(bytes.readUInt32BE(at + 16) * seconds), at + 20);
      lies += 1;
    }
  }
  return lies;
}

function lieInAvi(bytes: Buffer, seconds: number): number {
  let lies = 0;
  const frames = Math.round(seconds * picturesPerSecond);
  for (const [name, offset] of [
    ['avih', 24],
    ['strh', 40],
  ] as const) {
    for (const at of placesOf(bytes, name)) {
      bytes.writeUInt32LE(frames, at + offset);
      lies += 1;
    }
  }
  return lies;
}

/** The segment's duration is an eight-byte float in milliseconds, the stream's a tag such as 00:00:12.000000000. */
function lieInMatroska(bytes: Buffer, seconds: number): number {
  let lies = 0;
  const [place] = placesOf(bytes, Buffer.from([0x44, 0x89, 0x88]));
  if (place !== undefined) {
    bytes.writeDoubleBE(seconds * 1_000, place + 3);
    lies += 1;
  }
  const said = /00:00:\d\d\.\d{9}/g;
  for (const match of bytes.toString('latin1').matchAll(said)) {
    bytes.write(`00:00:${String(seconds).padStart(2, '0')}.000000000`, match.index, 'latin1');
    lies += 1;
  }
  return lies;
}
