import type { ChatEndpoint } from '#infra/llm/chat-endpoint.ts';
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

/** A language model that chooses in place of our own rules, where the operator has one. */
export type LanguageModel = {
  readonly endpoint: ChatEndpoint;
  /** For all questions of a job together; then our own rules choose. */
  readonly timeLimitMs: number;
  /** Told why our own rules had to choose, for the log. */
  readonly onFallback: (reason: string) => void;
};

/** What the choice works with. */
export type ChoiceParts = {
  readonly embedder: Embedder;
  readonly languageModel?: LanguageModel | undefined;
  readonly signal?: AbortSignal | undefined;
};
