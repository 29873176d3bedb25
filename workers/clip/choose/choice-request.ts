import type { ClipOptions, HeadingOptions } from '#schemas/records.ts';
import type { SourceName } from '../contract.ts';

/** What a client asked of the choice: the job's options, and what the source is called. */
export type ChoiceRequest = Pick<
  ClipOptions,
  'num_clips' | 'style' | 'prompt' | 'length_seconds' | 'hook_length_seconds' | 'auto_heading'
> & {
  readonly heading: Pick<HeadingOptions, 'text' | 'instructions'> | null;
  readonly sourceName: SourceName;
};

/** Sentences to vectors of length 1 that lie close together when they mean the same. */
export type Embedder = {
  readonly embed: (sentences: readonly string[]) => Promise<readonly Float32Array[]>;
};

/** What the choice works with. */
export type ChoiceParts = {
  readonly embedder: Embedder;
};
