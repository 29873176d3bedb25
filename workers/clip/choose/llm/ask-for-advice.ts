import { ChatFailure } from '#infra/llm/chat-endpoint.ts';
import type { LanguageModel } from '../choice-request.ts';
import { type Advice, type AdvisedClip, chooseByLlm } from './choose-by-llm.ts';

/** What came of asking: clips, or why our own rules have to choose, a sentence for the plan. */
export type Advised =
  | { readonly clips: readonly AdvisedClip[] }
  | { readonly clips: null; readonly note: string };

/**
 * Lets the operator's language model choose, within its time limit. A model that fails, is too slow or names
 * nothing never fails a job: the reason goes to `onFallback` and into the note. Throws only when `signal` aborts.
 */
export async function askForAdvice(
  model: LanguageModel,
  advice: Advice,
  signal: AbortSignal,
): Promise<Advised> {
  const limit = AbortSignal.timeout(model.timeLimitMs);
  // One failed question ends the others, which are still under way.
  const ended = new AbortController();
  try {
    const clips = await chooseByLlm(model.endpoint, advice, AbortSignal.any([limit, ended.signal, signal]));
    return clips.length > 0 ? { clips } : fallback(model, 'it named no passage');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ChatFailure)) throw error;
    const seconds = Math.round(model.timeLimitMs / 1000);
    return fallback(
      model,
      limit.aborted ? `it did not finish within ${seconds} s` : `${error.code}, ${error.message}`,
    );
  } finally {
    ended.abort();
  }
}

function fallback(model: LanguageModel, reason: string): Advised {
  model.onFallback(reason);
  return {
    clips: null,
    note: 'The language model gave no choice that could be used: the clips were chosen without it.',
  };
}
