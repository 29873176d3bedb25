import type { Readable } from 'node:stream';

/** All listening is done at this rate, in mono. */
export const samplesPerSecond = 16_000;
/** The voice activity model's step. */
export const samplesPerWindow = 512;
export const windowMs = 32;

const bytesPerSample = 2;

/**
 * 16 kHz mono PCM (s16le) in windows of 512 samples, -1 to 1; a last incomplete one is filled with silence.
 * Each window is a new array.
 */
export async function* soundWindows(pcm: Readable): AsyncGenerator<Float32Array> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pcm as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let offset = 0;
    for (; offset + samplesPerWindow * bytesPerSample <= bytes.length; ) {
      yield windowAt(bytes, offset, samplesPerWindow);
      offset += samplesPerWindow * bytesPerSample;
    }
    rest = Buffer.from(bytes.subarray(offset));
  }
  const left = Math.floor(rest.length / bytesPerSample);
  if (left > 0) yield windowAt(rest, 0, left);
}

function windowAt(bytes: Buffer, offset: number, samples: number): Float32Array {
  const window = new Float32Array(samplesPerWindow);
  for (let sample = 0; sample < samples; sample += 1) {
    window[sample] = bytes.readInt16LE(offset + sample * bytesPerSample) / 32_768;
  }
  return window;
}

/** Root mean square of a stretch of samples in dB of full scale; -100 for digital silence. */
export function levelDb(samples: Float32Array): number {
  let power = 0;
  for (const sample of samples) power += sample * sample;
  return power === 0 ? -100 : Math.max(-100, 10 * Math.log10(power / samples.length));
}
