import { samplesPerSecond } from './sound-windows.ts';

/** A value of the curve each 100 ms. */
export const loudnessStepMs = 100;
const samplesPerStep = (samplesPerSecond * loudnessStepMs) / 1000;
/** Momentary loudness looks at 400 ms. */
const stepsPerValue = 4;
const silenceLufs = -100;

type Biquad = {
  readonly b0: number;
  readonly b1: number;
  readonly b2: number;
  readonly a1: number;
  readonly a2: number;
};

/** ITU-R BS.1770's two filters, worked out for our rate: the head lifts what is high, and does not hear what is deep. */
const [headShelf, deepCut] = [shelf(), highPass()];

/**
 * Momentary loudness (EBU R128) of a sound over time. Of a sound mixed down to mono at 16 kHz: good for
 * comparing moments of one source with another; a stereo programme's own loudness is some 3 LU above.
 */
export class LoudnessMeter {
  readonly #first = new BiquadState(headShelf);
  readonly #second = new BiquadState(deepCut);
  /** Mean square of each complete step of 100 ms. */
  readonly #powers: number[] = [];
  #sum = 0;
  #samples = 0;

  /** Takes the next samples, -1 to 1. */
  push(samples: Float32Array): void {
    for (const sample of samples) {
      const weighted = this.#second.next(this.#first.next(sample));
      this.#sum += weighted * weighted;
      this.#samples += 1;
      if (this.#samples < samplesPerStep) continue;
      this.#powers.push(this.#sum / samplesPerStep);
      this.#sum = 0;
      this.#samples = 0;
    }
  }

  /** LUFS around each 100 ms, value n at n * 100 ms; -100 for silence. */
  finish(): readonly number[] {
    return this.#powers.map((_, step) => {
      const window = this.#powers.slice(Math.max(0, step - stepsPerValue / 2), step + stepsPerValue / 2);
      const power = window.reduce((sum, each) => sum + each, 0) / window.length;
      return power <= 0 ? silenceLufs : Math.max(silenceLufs, -0.691 + 10 * Math.log10(power));
    });
  }
}

class BiquadState {
  readonly #filter: Biquad;
  #z1 = 0;
  #z2 = 0;

  constructor(filter: Biquad) {
    this.#filter = filter;
  }

  next(input: number): number {
    const { b0, b1, b2, a1, a2 } = this.#filter;
    const output = b0 * input + this.#z1;
    this.#z1 = b1 * input - a1 * output + this.#z2;
    this.#z2 = b2 * input - a2 * output;
    return output;
  }
}

/** +4 dB above 1.7 kHz, from the analogue prototype by the bilinear transform. */
function shelf(): Biquad {
  const quality = 0.7071752369554196;
  const high = 10 ** (3.999843853973347 / 20);
  const middle = high ** 0.4996667741545416;
  const k = Math.tan((Math.PI * 1681.974450955533) / samplesPerSecond);
  const a0 = 1 + k / quality + k * k;
  return {
    b0: (high + (middle * k) / quality + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (middle * k) / quality + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / quality + k * k) / a0,
  };
}

/** Nothing below some 38 Hz. */
function highPass(): Biquad {
  const quality = 0.5003270373238773;
  const k = Math.tan((Math.PI * 38.13547087602444) / samplesPerSecond);
  const a0 = 1 + k / quality + k * k;
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / quality + k * k) / a0 };
}
