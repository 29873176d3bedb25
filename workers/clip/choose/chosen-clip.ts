/** A stretch of the source that plays in the clip. */
export type Cut = { readonly start_ms: number; readonly end_ms: number };

/** How the clip opens: its strongest sentence goes first, or already stands there. */
export type Hook = {
  readonly kind: 'teaser' | 'opening';
  /** How much of the clip it takes. */
  readonly length_ms: number;
};

/** What the choice gives for one clip, before camera and overlays are planned. */
export type ChosenClip = {
  readonly title: string;
  /** The heading's text: the client's, one that was made, or null where none was asked for. */
  readonly heading: string | null;
  /** In the order in which they play: a teaser stands first. */
  readonly cuts: readonly Cut[];
  readonly hook: Hook | null;
  /** Why this stretch was chosen, for people who look at a plan. */
  readonly score: { readonly total: number; readonly parts: Readonly<Record<string, number>> };
  readonly notes: readonly string[];
};

export type ChosenClips = {
  /** The best first. */
  readonly clips: readonly ChosenClip[];
  /** Why there are fewer than asked, a sentence for the client; null when there are not. */
  readonly shortfall: string | null;
};
