import type { RgbFrame } from '../faces/rgb-frame.ts';

/** The means of a stretch of video, small: packed RGB, 0 to 255. */
export type MeanPicture = {
  readonly width: number;
  readonly height: number;
  readonly mean: Float32Array;
  /** How much each value changes from a sample to the next, on average. */
  readonly change: Float32Array;
};

/** Pixels of the sampled frame across and down for each of the mean's. */
export const meanShrink = 2;

/** A cut changes everything once: more than this (of 255) from one sample to the next does not count. */
const mostChange = 24;

/** Adds up sampled frames. What moves blurs away in their mean; what is laid over the video stays sharp. */
export class TemporalMean {
  readonly #width: number;
  readonly #height: number;
  readonly #sum: Float32Array;
  readonly #change: Float32Array;
  readonly #last: Uint8Array;
  #samples = 0;

  constructor(size: { readonly width: number; readonly height: number }) {
    this.#width = Math.floor(size.width / meanShrink);
    this.#height = Math.floor(size.height / meanShrink);
    const length = this.#width * this.#height * 3;
    this.#sum = new Float32Array(length);
    this.#change = new Float32Array(length);
    this.#last = new Uint8Array(length);
  }

  push({ data, width }: RgbFrame): void {
    const [sum, change, last] = [this.#sum, this.#change, this.#last];
    const isFirst = this.#samples === 0;
    let at = 0;
    for (let y = 0; y < this.#height; y += 1) {
      let from = y * meanShrink * width * 3;
      for (let x = 0; x < this.#width; x += 1) {
        for (let channel = 0; channel < 3; channel += 1) {
          const value = data[from + channel] as number;
          sum[at] = (sum[at] as number) + value;
          if (!isFirst) {
            change[at] =
              (change[at] as number) + Math.min(mostChange, Math.abs(value - (last[at] as number)));
          }
          last[at] = value;
          at += 1;
        }
        from += meanShrink * 3;
      }
    }
    this.#samples += 1;
  }

  /** The means of all samples since the last call. */
  take(): MeanPicture {
    const samples = Math.max(1, this.#samples);
    const mean = this.#sum.map((value) => value / samples);
    const change = this.#change.map((value) => value / Math.max(1, samples - 1));
    this.#sum.fill(0);
    this.#change.fill(0);
    this.#samples = 0;
    return { width: this.#width, height: this.#height, mean, change };
  }
}
