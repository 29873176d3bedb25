import { EgressFailure } from '#infra/egress/egress-failure.ts';
import { type CallbackAnswer, postToCallback } from '#infra/egress/post-to-callback.ts';
import type { HttpService } from '../http/http-service.ts';
import type { ClaimedDelivery } from './delivery-queue.ts';
import { readMessage } from './message.ts';
import { retryAfterMs } from './retry-schedule.ts';
import { readSigningVersions } from './secret-rotations.ts';
import { signedHeaders } from './signature.ts';
import { teamSecret } from './team-secrets.ts';

/**
 * How an attempt ended. `failed`: with a sentence for the team; a final failure is not tried again.
 * `not-made`: nothing can be said against the endpoint, and the attempt does not count.
 */
export type AttemptOutcome =
  | Readonly<{ outcome: 'delivered'; statusCode: number }>
  | Readonly<{
      outcome: 'failed';
      statusCode: number | null;
      error: string;
      isFinal: boolean;
      /** What the endpoint's Retry-After asks for. */
      askedMs: number | undefined;
    }>
  | Readonly<{ outcome: 'not-made'; because: 'not-readable' | 'stopping' }>;

/** Sends one message once, signed as of now, with every secret of the team that is valid. */
export async function attemptDelivery(
  delivery: ClaimedDelivery,
  service: HttpService & { readonly masterKey: Buffer },
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const body = await readMessage(delivery, service);
  if (body === undefined) return { outcome: 'not-made', because: 'not-readable' };
  // Rows that lack a rotation, as in a rebuild, would sign with a secret that was replaced long ago.
  if ((await service.freshness.check('team.events', String(delivery.teamId))) === 'behind')
    return { outcome: 'not-made', because: 'not-readable' };
  const at = service.now();
  const versions = await readSigningVersions(service.pool, delivery.teamId, at);
  const secrets = versions.map(({ version }) => teamSecret(service.masterKey, delivery.teamId, version));
  try {
    const answer = await postToCallback({
      url: delivery.url,
      headers: {
        'content-type': 'application/json',
        ...signedHeaders({ id: delivery.deliveryId, at, body }, secrets),
      },
      body,
      timeoutMs: service.config.WEBHOOK_TIMEOUT,
      allow: service.config.EGRESS_ALLOW,
      signal,
    });
    return judgeAnswer(answer, delivery.host, service.now());
  } catch (error) {
    if (!(error instanceof EgressFailure)) throw error;
    if (error.code === 'ABORTED') return { outcome: 'not-made', because: 'stopping' };
    const isFinal = error.code === 'FORBIDDEN';
    return { outcome: 'failed', statusCode: null, error: error.message, isFinal, askedMs: undefined };
  }
}

const GONE = 410;

/** What an endpoint's answer means: any 2xx is a delivery, 410 ends it, all else is tried again. */
export function judgeAnswer({ status, retryAfter }: CallbackAnswer, host: string, now: Date): AttemptOutcome {
  if (status >= 200 && status < 300) return { outcome: 'delivered', statusCode: status };
  return {
    outcome: 'failed',
    statusCode: status,
    error: `${host} answered ${status}${hintOn(status)}.`,
    isFinal: status === GONE,
    askedMs: retryAfterMs(retryAfter, now),
  };
}

function hintOn(status: number): string {
  if (status === GONE) return ' (gone), so nothing more is sent';
  if (status >= 300 && status < 400) return ', and redirects are not followed: give the final URL';
  return '';
}
