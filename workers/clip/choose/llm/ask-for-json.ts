import { z } from 'zod';
import { type ChatEndpoint, ChatFailure, type ChatMessage, completeChat } from '#infra/llm/chat-endpoint.ts';

export type Question<Schema extends z.ZodType> = {
  readonly name: string;
  readonly messages: readonly ChatMessage[];
  readonly schema: Schema;
  /** What is wrong with an answer of the right shape; null when nothing is. */
  readonly check: (answer: z.infer<Schema>) => string | null;
  readonly maxTokens: number;
};

const mostTries = 3;
const answerTimeoutMs = 60_000;
const firstPauseMs = 500;

/**
 * Asks until the answer is JSON of the right shape, at most three times, telling the model what was wrong. Throws
 * the last `ChatFailure`.
 */
export async function askForJson<Schema extends z.ZodType>(
  endpoint: ChatEndpoint,
  question: Question<Schema>,
  signal: AbortSignal,
): Promise<z.infer<Schema>> {
  const answer = { name: question.name, schema: z.toJSONSchema(question.schema) };
  let messages = question.messages;
  for (let tries = 1; ; tries += 1) {
    try {
      const text = await completeChat(endpoint, {
        ...{ messages, answer, signal },
        maxTokens: question.maxTokens,
        timeoutMs: answerTimeoutMs,
      });
      const read = readAnswer(text, question);
      if ('value' in read) return read.value;
      if (tries >= mostTries)
        throw new ChatFailure('MALFORMED', `The language model’s answer is wrong: ${read.wrong}`);
      messages = [...question.messages, { role: 'assistant', content: text }, correction(read.wrong)];
    } catch (error) {
      const mayPass = error instanceof ChatFailure && ['BUSY', 'UNREACHABLE'].includes(error.code);
      if (!mayPass || tries >= mostTries) throw error;
      await pause(firstPauseMs * 2 ** tries, signal);
    }
  }
}

type Read<Value> = { readonly value: Value } | { readonly wrong: string };

function readAnswer<Schema extends z.ZodType>(
  text: string,
  question: Question<Schema>,
): Read<z.infer<Schema>> {
  // Some models wrap JSON in a code fence whatever they are told.
  const bare = text.trim().replace(/^```(?:json)?\s*|\s*```$/g, '');
  let json: unknown;
  try {
    json = JSON.parse(bare);
  } catch {
    return { wrong: 'it is not JSON' };
  }
  const parsed = question.schema.safeParse(json);
  if (!parsed.success) return { wrong: z.prettifyError(parsed.error).slice(0, 500) };
  const wrong = question.check(parsed.data);
  return wrong === null ? { value: parsed.data } : { wrong };
}

function correction(wrong: string): ChatMessage {
  return {
    role: 'user',
    content: `Your answer cannot be used: ${wrong}. Answer again, with the JSON alone.`,
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, ms);
    const stop = (): void => {
      clearTimeout(timer);
      reject(new ChatFailure('ABORTED', 'Asking the language model was broken off.'));
    };
    function done(): void {
      signal.removeEventListener('abort', stop);
      resolve();
    }
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
