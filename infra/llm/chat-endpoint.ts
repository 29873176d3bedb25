import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';

/** A server that speaks OpenAI's chat protocol, as the operator configured it (`LLM_BASE_URL` and so on). */
export type ChatEndpoint = {
  /** What `/chat/completions` is added to, such as `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly model: string;
  /** Sent as a bearer token and nowhere else: it stands in no error and no log. */
  readonly apiKey?: string | undefined;
};

export type ChatMessage = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string };

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** The JSON Schema that the answer must follow, and a name for it. */
  readonly answer: { readonly name: string; readonly schema: object };
  readonly maxTokens: number;
  /** From the request to the answer's end. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

const chatFailureCodes = [
  'UNREACHABLE',
  'TIME_LIMIT',
  'ABORTED',
  'BUSY',
  'REFUSED',
  'TOO_LARGE',
  'MALFORMED',
] as const;
export type ChatFailureCode = (typeof chatFailureCodes)[number];

/** The endpoint gave no answer that can be used. */
export class ChatFailure extends Error {
  override readonly name = 'ChatFailure';
  readonly code: ChatFailureCode;

  constructor(code: ChatFailureCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

const connectTimeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
const maxHeaderBytes = 16 * 1024;

const completion = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullable() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
});

/**
 * Asks once and returns the text of the answer. The endpoint is the operator's own, so the egress guard for
 * strangers' addresses does not apply; redirects are not followed. Throws `ChatFailure`.
 */
export async function completeChat(endpoint: ChatEndpoint, chat: ChatRequest): Promise<string> {
  const limit = AbortSignal.timeout(chat.timeoutMs);
  const signal = AbortSignal.any([limit, chat.signal]);
  const agent = new Agent({
    connect: { timeout: connectTimeoutMs },
    maxHeaderSize: maxHeaderBytes,
    maxResponseSize: maxAnswerBytes,
  });
  try {
    const first = await post(endpoint, chat, { agent, signal, withSchema: true });
    // Some servers do not know schemas of answers: the messages say it as well, and the answer is checked.
    const answer =
      first.status === 400 || first.status === 422
        ? await post(endpoint, chat, { agent, signal, withSchema: false })
        : first;
    return contentOf(answer);
  } catch (error) {
    throw explained(error, {
      isLate: limit.aborted,
      isAborted: chat.signal.aborted,
      timeoutMs: chat.timeoutMs,
    });
  } finally {
    await agent.destroy();
  }
}

type Answer = { readonly status: number; readonly text: string };

async function post(
  endpoint: ChatEndpoint,
  chat: ChatRequest,
  how: { readonly agent: Dispatcher; readonly signal: AbortSignal; readonly withSchema: boolean },
): Promise<Answer> {
  const { schema, name } = chat.answer;
  const format = how.withSchema
    ? { response_format: { type: 'json_schema', json_schema: { name, strict: true, schema } } }
    : {};
  const answer = await request(`${endpoint.baseUrl.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    dispatcher: how.agent,
    signal: how.signal,
    headersTimeout: chat.timeoutMs,
    bodyTimeout: chat.timeoutMs,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'clipledger',
      ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
    },
    body: JSON.stringify({
      model: endpoint.model,
      messages: chat.messages,
      max_tokens: chat.maxTokens,
      // The same source should give the same clips, as far as the server keeps to it.
      temperature: 0,
      seed: 1,
      ...format,
    }),
  });
  return { status: answer.statusCode, text: await answer.body.text() };
}

function contentOf({ status, text }: Answer): string {
  if (status === 429 || status >= 500)
    throw new ChatFailure('BUSY', `The language model answered ${status}.`);
  if (status !== 200) throw new ChatFailure('REFUSED', `The language model refused with ${status}.`);
  const parsed = completion.safeParse(parsedJson(text));
  const choice = parsed.data?.choices[0];
  if (choice === undefined)
    throw new ChatFailure('MALFORMED', 'The language model’s answer is no chat completion.');
  if (choice.finish_reason === 'length')
    throw new ChatFailure('MALFORMED', 'The language model’s answer was cut off.');
  return choice.message.content ?? '';
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function explained(
  error: unknown,
  about: { readonly isLate: boolean; readonly isAborted: boolean; readonly timeoutMs: number },
): ChatFailure {
  if (error instanceof ChatFailure) return error;
  if (about.isAborted) return new ChatFailure('ABORTED', 'Asking the language model was broken off.', error);
  const code = (error as { readonly code?: unknown }).code;
  const timeouts = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT'];
  if (about.isLate || timeouts.includes(String(code))) {
    const seconds = Math.round(about.timeoutMs / 1000);
    return new ChatFailure('TIME_LIMIT', `The language model did not answer within ${seconds} s.`, error);
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new ChatFailure('TOO_LARGE', 'The language model’s answer is larger than is taken.', error);
  }
  return new ChatFailure('UNREACHABLE', 'The connection to the language model failed.', error);
}
