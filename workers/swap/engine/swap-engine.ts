import type { RgbPatch } from '../video/yuv-patch.ts';

/** The target's face in one frame. */
export type TargetFace = {
  /** x, y, z of its 478 points in pixels of the patch, smoothed over time. */
  readonly points: Float32Array;
  /** The first frame of a shot, or after the face was lost: nothing of the frames before counts. */
  readonly isNew: boolean;
};

/**
 * Puts one source face into a video's frames, in their order. An engine is opened for one source and one video;
 * several frames may be on their way at once, so `swap` may be called again before it has answered.
 */
export type SwapEngine = {
  /** How much of the frame around the face it wants to see, in heights of the face. */
  readonly patchScale: number;
  /** The same part of the frame with the source's face; the given one may be used up. */
  swap(patch: RgbPatch, face: TargetFace): Promise<RgbPatch>;
  /** Milliseconds of work so far. */
  readonly times: { readonly warp_ms: number; readonly blend_ms: number };
  close(): Promise<void>;
};
