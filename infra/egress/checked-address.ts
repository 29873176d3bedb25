import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { EgressFailure } from './egress-failure.ts';
import { bareHost, type EgressAllow, forbiddenOnItsFace, isAllowed } from './forbidden-url.ts';

/** All addresses of a host name, as literals. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export type TargetToCheck = {
  readonly url: string;
  /** What is fetched, for messages: `video`, `face image`, `music`. */
  readonly what: string;
  readonly allow: EgressAllow;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
};

/** A URL that may be fetched, and the one address to which the connection must be made. */
export type CheckedTarget = { readonly url: URL; readonly address: string };

/**
 * Decides whether a stranger's URL may be fetched. A name is resolved here, once, and ALL its addresses must
 * be public; whoever connects must use the address given back, so that a second DNS answer changes nothing.
 * Throws `EgressFailure`, or the resolver's own error.
 */
export async function checkTarget(target: TargetToCheck): Promise<CheckedTarget> {
  const wrong = forbiddenOnItsFace(target.url, target.allow);
  if (wrong !== undefined) {
    throw new EgressFailure('FORBIDDEN', `The ${target.what} may not be fetched: ${lowerFirst(wrong)}`);
  }
  const url = new URL(target.url);
  const host = bareHost(url);
  const addresses = isIP(host) === 0 ? await resolveWithin(target, host) : [host];
  const [first] = addresses;
  if (first === undefined) throw new EgressFailure('NOT_FOUND', `The host ${host} has no address.`);
  if (isAllowed(url, target.allow)) return { url, address: first };
  // One forbidden address among public ones is an attack or a mistake; neither may be tried.
  if (!addresses.every(isPublicAddress)) {
    throw new EgressFailure(
      'FORBIDDEN',
      `The ${target.what} may not be fetched: ${host} is not on the public internet.`,
    );
  }
  return { url, address: first };
}

/** The system's resolver cannot be interrupted, so its answer is raced against the caller's signal. */
async function resolveWithin(target: TargetToCheck, host: string): Promise<readonly string[]> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(target.signal.reason);
  target.signal.addEventListener('abort', abort, { once: true });
  try {
    target.signal.throwIfAborted();
    return await Promise.race([(target.resolve ?? systemResolve)(host), aborted]);
  } finally {
    target.signal.removeEventListener('abort', abort);
  }
}

async function systemResolve(hostname: string): Promise<readonly string[]> {
  const answers = await lookup(hostname, { all: true, verbatim: false });
  return answers.map((answer) => answer.address);
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
