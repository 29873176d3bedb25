/**
 * Where the camera looks while a clip plays, as data: made once from the source's analysis, kept in the plan,
 * rendered the same on every retry. Times are milliseconds of the SOURCE and may be fractional, as frames are;
 * boxes are in pixels of the source's picture as shown (after rotation and sample aspect), also fractional.
 */

export type Box = {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** The box at a moment; between two keyframes it moves in a straight line. */
export type CameraKeyframe = { readonly at_ms: number; readonly box: Box };

export type CameraLayout =
  /** A box of the picture (all but its bars) at full width over a blurred, darkened copy of itself. */
  | { readonly kind: 'blurred'; readonly picture: Box }
  /** A 9:16 box of the picture fills the clip. At least one keyframe; the ends hold. */
  | { readonly kind: 'crop'; readonly path: readonly CameraKeyframe[] }
  /** Two boxes of the picture, one above the other, each filling its band of the clip. */
  | {
      readonly kind: 'stacked';
      readonly above: Box;
      readonly below: Box;
      /** Share of the clip's height that the upper band takes. */
      readonly above_share: number;
    };

/** A stretch without a change of layout. A hard cut of the camera, or of the source, starts a new one. */
export type CameraScene = {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly layout: CameraLayout;
};

/** The camera modes that there are, as the interface names them. */
export const cameraModes = ['standard', 'center-crop', 'speaker-zoom', 'active-speaker', 'facecam'] as const;
export type CameraMode = (typeof cameraModes)[number];

export type CameraPlan = {
  /** The camera mode that was used: another than the one asked for where that could not apply. */
  readonly mode: CameraMode;
  /** Covers the clip's cuts without a gap, in the order in which they play: no scene goes over a cut's end. */
  readonly scenes: readonly CameraScene[];
  /** Sentences for people, such as why another mode was used. */
  readonly notes: readonly string[];
};
