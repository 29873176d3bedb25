/** What is drawn over a clip, as data. Times are milliseconds of the CLIP, not of the source. */

export type HeadingPlan = {
  readonly text: string;
  /** Interface names: `stroke` or `instagram`; a color; a font; `top`, `middle` or `bottom`. */
  readonly style: string;
  readonly color: string;
  readonly font: string;
  readonly position: string;
  readonly bg_color: string;
  /** The whole of it stands below this line of the clip's pixels: above it is a face that nobody may cover. */
  readonly below_px?: number;
  readonly start_ms: number;
  readonly end_ms: number;
};

/** A word while it is spoken: it is highlighted from its start to the next word's. */
export type CaptionWord = { readonly text: string; readonly start_ms: number; readonly end_ms: number };

/** What is on the screen at once: one or two lines of words. */
export type CaptionPage = {
  readonly start_ms: number;
  readonly end_ms: number;
  readonly lines: readonly (readonly CaptionWord[])[];
};

export type CaptionPlan = {
  /** Interface names. */
  readonly color: string;
  readonly font: string;
  readonly pages: readonly CaptionPage[];
};
