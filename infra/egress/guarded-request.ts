import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { isPublicAddress } from './addresses.ts';
import { EgressFailure } from './egress-failure.ts';
import { bareHost, type EgressAllow, forbiddenOnItsFace, isAllowed } from './forbidden-url.ts';

/** All addresses of a host name, as literals. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

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
const connectTimeoutMs = 10_000;
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
  const wrong = forbiddenOnItsFace(target, request.allow);
  if (wrong !== undefined) {
    throw new EgressFailure('FORBIDDEN', `The ${request.what} may not be fetched: ${lowerFirst(wrong)}`);
  }
  const url = new URL(target);
  const address = await checkedAddress(request, url);
  const client = new Client(url.origin, {
    connect: { lookup: pinned(address), timeout: connectTimeoutMs },
    headersTimeout: request.idleTimeoutMs,
    bodyTimeout: request.idleTimeoutMs,
    maxHeaderSize: 16 * 1024,
    pipelining: 1,
  });
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

async function checkedAddress(request: GuardedRequest, url: URL): Promise<string> {
  const host = bareHost(url);
  const addresses = isIP(host) === 0 ? await resolveWithin(request, host) : [host];
  const [first] = addresses;
  if (first === undefined) throw new EgressFailure('NOT_FOUND', `The host ${host} has no address.`);
  if (isAllowed(url, request.allow)) return first;
  // One forbidden address among public ones is an attack or a mistake; neither may be tried.
  if (!addresses.every(isPublicAddress)) {
    throw new EgressFailure(
      'FORBIDDEN',
      `The ${request.what} may not be fetched: ${host} is not on the public internet.`,
    );
  }
  return first;
}

/** The system's resolver cannot be interrupted, so its answer is raced against the caller's signal. */
async function resolveWithin(request: GuardedRequest, host: string): Promise<readonly string[]> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(request.signal.reason);
  request.signal.addEventListener('abort', abort, { once: true });
  try {
    request.signal.throwIfAborted();
    return await Promise.race([(request.resolve ?? systemResolve)(host), aborted]);
  } finally {
    request.signal.removeEventListener('abort', abort);
  }
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true, verbatim: false });
  return answers.map((answer) => answer.address);
}

function pinned(address: string): LookupFunction {
  const family = isIP(address);
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
