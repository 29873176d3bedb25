import { type CheckedTarget, checkTarget, type Resolve } from './checked-address.ts';
import { EgressFailure } from './egress-failure.ts';
import type { EgressAllow } from './forbidden-url.ts';
import { ProxyRefusal } from './proxy-refusal.ts';
import type { ProxySession } from './proxy-session.ts';

export type ProxyGuard = { readonly allow: EgressAllow; readonly resolve?: Resolve };

export const connectTimeoutMs = 10_000;

/** The guard's decision on what a program asked of the proxy; throws `ProxyRefusal`. */
export async function checkProxyTarget(
  guard: ProxyGuard,
  session: ProxySession,
  url: string,
): Promise<CheckedTarget> {
  const limit = AbortSignal.timeout(connectTimeoutMs);
  const signal = AbortSignal.any([session.signal, limit]);
  try {
    return await checkTarget({ ...guard, url, what: 'page', signal });
  } catch (error) {
    if (signal.aborted) throw new ProxyRefusal('TIME_LIMIT', error);
    if (error instanceof EgressFailure && error.code === 'FORBIDDEN')
      throw new ProxyRefusal('FORBIDDEN', error);
    throw new ProxyRefusal('NOT_FOUND', error);
  }
}

/** The host that a request names, for the list of refusals: no path and no query string. */
export function namedHost(url: string): string {
  return (URL.canParse(url) ? new URL(url).host : '(no host)').slice(0, 260);
}
