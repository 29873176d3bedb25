import { type Box, boxOverlap, type RgbFrame } from '../faces/rgb-frame.ts';
import { insetAround } from './inset-edges.ts';
import { SteadyFaces } from './steady-faces.ts';
import { meanShrink, TemporalMean } from './temporal-mean.ts';

/** A camera's picture that is laid over the video, in pixels of the sampled frame. */
export type FoundInset = {
  /** Numbers of the samples from which, and before which, it is there. */
  readonly from: number;
  readonly to: number;
  readonly box: Box;
};

/** A layout that changes is found out within a minute; a shorter stretch than this says too little. */
const longestWindow = 480;
const shortestWindow = 32;
/** Insets of two windows that have this much in common are one. */
const sameInset = 0.8;

/**
 * Finds camera insets (a streamer's face over a game): a small face that keeps its place, with a rectangle
 * around it in the mean of a minute's frames. Keeps two small pictures and the insets.
 */
export class InsetFinder {
  readonly #faces: SteadyFaces;
  readonly #mean: TemporalMean;
  readonly #found: FoundInset[] = [];
  #windowStart = 0;
  #samples = 0;

  constructor(size: { readonly width: number; readonly height: number }) {
    this.#faces = new SteadyFaces(size);
    this.#mean = new TemporalMean(size);
  }

  /** Takes the next sampled frame, which is not kept, and the faces in it. */
  push(frame: RgbFrame, faces: readonly Box[]): void {
    this.#faces.push(faces);
    this.#mean.push(frame);
    this.#samples += 1;
    if (this.#samples - this.#windowStart >= longestWindow) this.#judge();
  }

  /** The video is over. */
  finish(): readonly FoundInset[] {
    this.#judge();
    return this.#found;
  }

  #judge(): void {
    const from = this.#windowStart;
    const to = this.#samples;
    this.#windowStart = to;
    const picture = this.#mean.take();
    const faces = this.#faces.take();
    if (to - from < shortestWindow) {
      this.#prolong(from, to);
      return;
    }
    for (const { box } of faces) {
      const inset = insetAround(scaled(box, 1 / meanShrink), picture);
      if (inset === undefined) continue;
      this.#add({ from, to, box: scaled(inset.box, meanShrink) });
      return;
    }
  }

  #add(inset: FoundInset): void {
    const before = this.#found.at(-1);
    if (before?.to === inset.from && boxOverlap(before.box, inset.box) >= sameInset) {
      this.#found[this.#found.length - 1] = { ...before, to: inset.to };
    } else this.#found.push(inset);
  }

  /** The last moments of a video are as what was before them. */
  #prolong(from: number, to: number): void {
    const before = this.#found.at(-1);
    if (before?.to === from) this.#found[this.#found.length - 1] = { ...before, to };
  }
}

function scaled({ left, top, right, bottom }: Box, by: number): Box {
  return { left: left * by, top: top * by, right: right * by, bottom: bottom * by };
}
