import type { Readable } from 'node:stream';

/**
 * Cuts a stream of raw pictures into pieces of `frameBytes`; an incomplete last one is left out. With
 * `reuse`, each piece is valid only until the next is asked for, and memory stays as it is.
 */
export async function* rawFrames(
  stream: Readable,
  frameBytes: number,
  reuse: 'reuse' | 'fresh',
): AsyncGenerator<Uint8Array> {
  let frame = new Uint8Array(frameBytes);
  let filled = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    let offset = 0;
    while (offset < piece.length) {
      const taken = Math.min(frameBytes - filled, piece.length - offset);
      frame.set(piece.subarray(offset, offset + taken), filled);
      filled += taken;
      offset += taken;
      if (filled < frameBytes) continue;
      yield frame;
      filled = 0;
      if (reuse === 'fresh') frame = new Uint8Array(frameBytes);
    }
  }
}
