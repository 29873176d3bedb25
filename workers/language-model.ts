import type { Config } from '#infra/config.ts';
import type { Logger } from '#infra/log.ts';
import type { LanguageModel } from './clip/choose/choice-request.ts';

type LlmSettings = Pick<Config, 'LLM_BASE_URL' | 'LLM_MODEL' | 'LLM_API_KEY' | 'LLM_TIME_LIMIT'>;

/** The operator's language model as the settings name it; undefined where they name none. */
export function languageModelOf(config: LlmSettings, log: Pick<Logger, 'warn'>): LanguageModel | undefined {
  const {
    LLM_BASE_URL: baseUrl,
    LLM_MODEL: model,
    LLM_API_KEY: apiKey,
    LLM_TIME_LIMIT: timeLimitMs,
  } = config;
  if (baseUrl === undefined || model === undefined) return undefined;
  return {
    endpoint: { baseUrl, model, apiKey },
    timeLimitMs,
    onFallback: (reason) =>
      log.warn({ reason, model }, 'the language model gave no choice: the clips are chosen without it'),
  };
}
