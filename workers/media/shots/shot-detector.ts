/** Thumbnails for the detector: packed RGB, small enough that noise and compression average out. */
export const thumbnailSize = { width: 48, height: 27 } as const;
export const thumbnailBytes = thumbnailSize.width * thumbnailSize.height * 3;

/** What the thumbnails of a video have shown. */
export type ShotMeasures = {
  /** How many frames there were. */
  readonly frameCount: number;
  /** The first frame of each new shot but the first, ascending. */
  readonly cutFrames: readonly number[];
  /** How much the picture changes from frame to frame inside shots, 0 to 255, a value each half second. */
  readonly motion: readonly number[];
};

/** Cuts change the mean pixel at least by this much (of 255); less is noise. */
const leastDifference = 6;
/** A cut changes the picture as a whole: a caption or a person that appears changes less of it than this. */
const leastChangedShare = 0.25;
/** A pixel has changed when its channels differ by more than this on average (of 255). */
const leastPixelDifference = 12;
/** A cut stands out of the motion around it by this factor. */
const leastProminence = 3;
/** Flashes and titles that appear are over, or still there on both sides, within this time. */
const reachSeconds = 0.2;
/** After a flash the picture is again what it was before; after a cut it is at least this share of the cut apart. */
const leastPermanence = 0.5;
/** No editor cuts faster; two cuts this close are one with a blended frame between them. */
const shortestShotSeconds = 0.12;
const motionWindowSeconds = 0.5;

/**
 * Finds the cuts of a video from a thumbnail of each frame: frames that differ from the one before far more
 * than their neighbours do, and where the picture does not come back afterwards. Keeps some ten thumbnails.
 */
export class ShotDetector {
  readonly #reach: number;
  readonly #shortestShot: number;
  readonly #framesPerWindow: number;
  /** The last thumbnails, the newest at `frameCount - 1`. */
  readonly #thumbnails: Uint8Array[] = [];
  /** `#differences[i]`: between frame i - 1 and frame i. */
  readonly #differences: number[] = [];
  readonly #cutFrames: number[] = [];
  #frameCount = 0;

  constructor(framesPerSecond: number) {
    this.#reach = Math.max(2, Math.round(framesPerSecond * reachSeconds));
    this.#shortestShot = Math.max(1, Math.round(framesPerSecond * shortestShotSeconds));
    this.#framesPerWindow = Math.max(1, framesPerSecond * motionWindowSeconds);
  }

  /** Takes the next frame's thumbnail, which must not change afterwards. */
  push(thumbnail: Uint8Array): void {
    const previous = this.#thumbnails.at(-1);
    this.#differences.push(previous === undefined ? 0 : meanDifference(previous, thumbnail));
    this.#thumbnails.push(thumbnail);
    this.#frameCount += 1;
    if (this.#thumbnails.length > 2 * this.#reach + 2) this.#thumbnails.shift();
    this.#judge(this.#frameCount - 1 - this.#reach);
  }

  /** The video is over. */
  finish(): ShotMeasures {
    for (let frame = this.#frameCount - this.#reach; frame < this.#frameCount; frame += 1) this.#judge(frame);
    return { frameCount: this.#frameCount, cutFrames: this.#cutFrames, motion: this.#motion() };
  }

  #judge(frame: number): void {
    if (frame < 1) return;
    const difference = this.#differences[frame] ?? 0;
    if (difference < leastDifference) return;
    const around = this.#differences.slice(Math.max(1, frame - this.#reach), frame + this.#reach + 1);
    const others = around.toSorted((a, b) => b - a).slice(1);
    if (around.some((each) => each > difference)) return;
    // The second largest may be the other edge of a blended frame: the median tells how much really moves.
    const usual = others[Math.floor(others.length / 2)] ?? 0;
    if (difference < leastProminence * (usual + 1)) return;
    if (changedShare(this.#thumbnail(frame - 1), this.#thumbnail(frame)) < leastChangedShare) return;
    if (this.#comesBack(frame, difference)) return;
    const last = this.#cutFrames.at(-1);
    if (last === undefined || frame - last >= this.#shortestShot) this.#cutFrames.push(frame);
  }

  /** Whether the picture soon after is what it was before: then this was one edge of a flash. */
  #comesBack(frame: number, difference: number): boolean {
    const least = leastPermanence * difference;
    const before = this.#thumbnail(frame - 1);
    const after = this.#thumbnail(frame);
    const later = this.#thumbnail(Math.min(this.#frameCount - 1, frame + this.#reach));
    const earlier = this.#thumbnail(Math.max(0, frame - 1 - this.#reach));
    return meanDifference(before, later) < least || meanDifference(earlier, after) < least;
  }

  #thumbnail(frame: number): Uint8Array {
    const kept = this.#thumbnails.length;
    return this.#thumbnails[Math.max(0, kept - (this.#frameCount - frame))] as Uint8Array;
  }

  #motion(): readonly number[] {
    const cuts = new Set(this.#cutFrames);
    const windows = Math.ceil(this.#frameCount / this.#framesPerWindow);
    return Array.from({ length: windows }, (_, window) => {
      const first = Math.round(window * this.#framesPerWindow);
      const last = Math.round((window + 1) * this.#framesPerWindow);
      const inside = this.#differences.slice(first, last).filter((_, index) => !cuts.has(first + index));
      return inside.reduce((sum, each) => sum + each, 0) / Math.max(1, inside.length);
    });
  }
}

/** The part of the pixels that differ, 0 to 1. */
function changedShare(a: Uint8Array, b: Uint8Array): number {
  let changed = 0;
  for (let at = 0; at < a.length; at += 3) {
    const difference =
      Math.abs((a[at] as number) - (b[at] as number)) +
      Math.abs((a[at + 1] as number) - (b[at + 1] as number)) +
      Math.abs((a[at + 2] as number) - (b[at + 2] as number));
    if (difference > 3 * leastPixelDifference) changed += 1;
  }
  return (changed * 3) / a.length;
}

/** Mean of the absolute differences, 0 to 255. */
function meanDifference(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += Math.abs((a[at] as number) - (b[at] as number));
  return sum / a.length;
}
