import type { Dispatcher } from 'undici';
import { checkTarget, type Resolve } from './checked-address.ts';
import { EgressFailure } from './egress-failure.ts';
import type { EgressAllow } from './forbidden-url.ts';
import { pinnedClient } from './pinned-client.ts';

export type GuardedRequest = {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD';
  readonly headers?: Readonly<Record<string, string>>;
  /** What is fetched, for messages: `video`, `face image`, `music`. */
  readonly what: string;
  readonly allow: EgressAllow;
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
};

export type GuardedResponse = {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** Where it was found in the end, after redirects. */
  readonly url: URL;
  /** Ends the connection; must be called when the body is done with. */
  readonly close: () => Promise<void>;
};

const maxRedirects = 5;
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Asks for a URL that a stranger gave. Before every hop the host is resolved here, ALL its addresses must be
 * public, and the connection is made to the very address that was checked: a second DNS answer changes nothing.
 */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedResponse> {
  let target = request.url;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const response = await requestOnce(request, target);
    const location = response.headers['location'];
    if (!redirectStatuses.has(response.status) || typeof location !== 'string') return response;
    await response.close();
    if (!URL.canParse(location, response.url.href)) {
      throw new EgressFailure(
        'REFUSED',
        `The ${request.what}'s server redirected to something that is not a URL.`,
      );
    }
    target = new URL(location, response.url).href;
  }
  throw new EgressFailure(
    'TOO_MANY_REDIRECTS',
    `The ${request.what}'s URL redirects more than ${maxRedirects} times.`,
  );
}

async function requestOnce(request: GuardedRequest, target: string): Promise<GuardedResponse> {
  const { url, address } = await checkTarget({ ...request, url: target });
  const client = pinnedClient({ url, address }, request.idleTimeoutMs);
  const close = async () => client.destroy();
  try {
    const answer = await client.request({
      path: url.pathname + url.search,
      method: request.method ?? 'GET',
      headers: {
        'user-agent': 'clipledger',
        accept: '*/*',
        'accept-encoding': 'identity',
        ...request.headers,
      },
      signal: request.signal,
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.body, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
