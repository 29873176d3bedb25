import type { Dispatcher } from 'undici';
import { checkTarget, type Resolve } from './checked-address.ts';
import { EgressFailure, type EgressFailureCode } from './egress-failure.ts';
import { explainFailure } from './explain-failure.ts';
import type { EgressAllow } from './forbidden-url.ts';
import { pinnedClient } from './pinned-client.ts';

export type CallbackPost = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** From the look-up of the name to the answer's end. */
  readonly timeoutMs: number;
  readonly allow: EgressAllow;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
};

export type CallbackAnswer = { readonly status: number; readonly retryAfter: string | undefined };

/** What is read of an answer at most; nothing of it is kept. */
const maxAnswerBytes = 4 * 1024;

/**
 * Posts `body` to a stranger's URL through the egress guard: a name is resolved once, all its addresses must
 * be public, and the connection goes to the one that was checked. A redirect is an answer like others. Fails
 * only with `EgressFailure`, whose message names the host and nothing else of the URL.
 */
export async function postToCallback(post: CallbackPost): Promise<CallbackAnswer> {
  const limit = AbortSignal.timeout(post.timeoutMs);
  const signal = AbortSignal.any([limit, post.signal]);
  try {
    return await postOnce(post, signal);
  } catch (error) {
    const { code } = explainFailure(error, {
      ...post,
      what: 'callback',
      maxBytes: maxAnswerBytes,
      timedOut: limit.aborted,
    });
    throw new EgressFailure(code, failureSentence(code, post), error);
  }
}

async function postOnce(post: CallbackPost, signal: AbortSignal): Promise<CallbackAnswer> {
  const target = await checkTarget({ ...post, what: 'callback', signal });
  const client = pinnedClient(target, post.timeoutMs);
  try {
    const answer = await client.request({
      path: target.url.pathname + target.url.search,
      method: 'POST',
      headers: { 'user-agent': 'clipledger', accept: '*/*', ...post.headers },
      body: post.body,
      signal,
    });
    await readSome(answer.body);
    const retryAfter = answer.headers['retry-after'];
    return {
      status: answer.statusCode,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  } finally {
    await client.destroy();
  }
}

/** Lets the server finish a short answer; whatever goes wrong from here on, its status has been given. */
async function readSome(body: Dispatcher.ResponseData['body']): Promise<void> {
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length;
      if (bytes > maxAnswerBytes) return;
    }
  } catch {
    // Broken off or too slow.
  }
}

function failureSentence(code: EgressFailureCode, { url, timeoutMs }: CallbackPost): string {
  const host = URL.canParse(url) ? new URL(url).hostname : 'the host';
  switch (code) {
    case 'FORBIDDEN':
      return `Nothing is sent to ${host}: it is not on the public internet.`;
    case 'NOT_FOUND':
      return `The host ${host} does not exist or has no address.`;
    case 'UNTRUSTED':
      return `The TLS certificate of ${host} is not valid.`;
    case 'TIME_LIMIT':
      return `${host} did not answer within ${Math.round(timeoutMs / 1_000)} s.`;
    case 'ABORTED':
      return 'The attempt was broken off because the service stops.';
    case 'UNAVAILABLE':
    case 'REFUSED':
    case 'TOO_LARGE':
    case 'TOO_MANY_REDIRECTS':
      return `The connection to ${host} failed.`;
  }
}
