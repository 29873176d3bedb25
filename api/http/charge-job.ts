import type { CommandReply, RecordTypes } from '#schemas/records.ts';
import { commandEnvelope } from '../command-envelope.ts';
import type { Refusal } from '../ledger/decision.ts';
import { LedgerUnavailable } from '../ledger/ledger-client.ts';
import { isJobThere } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { type HttpService, READ_YOUR_WRITES_LIMIT_MS } from './http-service.ts';
import { idempotentCommandId } from './idempotency-key.ts';

/** The one way from a checked request to a paid job, of either kind. */

type Terms = Pick<
  RecordTypes['RequestJob'],
  'job_id' | 'kind' | 'item_count' | 'item_cents' | 'request_hash' | 'clip' | 'face_swap' | 'callback_url'
>;

export type JobCharge = Readonly<{
  terms: Terms;
  idempotencyKey: string | undefined;
  traceparent: string | undefined;
}>;

/** What the ledger accepted: the job that this request got, or that an earlier one with its key got. */
export type AcceptedCharge = Readonly<{
  jobId: string;
  itemCount: number;
  costCents: number;
  replayed: boolean;
}>;

/**
 * `refused`: nothing was charged for this job id. `unknown`: the ledger did not answer, so the job may be
 * paid for, and what it needs has to stay.
 */
export type ChargeOutcome =
  | Readonly<{ outcome: 'accepted'; charge: AcceptedCharge }>
  | Readonly<{ outcome: 'refused' | 'unknown'; answer: Answer }>;

/** Charges for a job and requests it in one command, and waits until it can be read. */
export async function chargeJob(
  charge: JobCharge,
  principal: Principal,
  service: HttpService,
): Promise<ChargeOutcome> {
  if (charge.terms.callback_url !== null && service.config.WEBHOOK_MASTER_KEY === undefined)
    return { outcome: 'refused', answer: answers.webhooksNotSetUp };
  let reply: CommandReply;
  try {
    reply = await service.ledger.submit(requestJob(charge, principal, service), {
      traceparent: charge.traceparent,
    });
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    service.log.warn({ err: error, teamId: principal.teamId }, 'The ledger did not answer a charge.');
    return { outcome: 'unknown', answer: answers.chargeUnknown(charge.idempotencyKey !== undefined) };
  }
  if (reply.outcome === 'refused') return { outcome: 'refused', answer: refusedCharge(reply) };
  await untilReadable(reply, service);
  return { outcome: 'accepted', charge: acceptedCharge(reply) };
}

/** `answer`, marked where it is given again. */
export const replayable = (answer: Answer, { replayed }: AcceptedCharge): Answer =>
  replayed ? { ...answer, headers: { ...answer.headers, 'idempotency-replayed': 'true' } } : answer;

function requestJob(
  { terms, idempotencyKey }: JobCharge,
  principal: Principal,
  { config, now }: HttpService,
) {
  const commandId =
    idempotencyKey === undefined ? {} : { commandId: idempotentCommandId(principal.teamId, idempotencyKey) };
  const at = now();
  const envelope = commandEnvelope({
    teamId: principal.teamId,
    actor: `key:${principal.keyId}`,
    now: at,
    ...commandId,
  });
  const value = { ...envelope, ...terms, job_deadline_at: at.getTime() + config.JOB_DEADLINE };
  return { name: 'RequestJob', value } as const;
}

/** The reply names where the debit is; the job is usually projected with it, or else a moment later. */
async function untilReadable(reply: CommandReply, { watch, freshness, pool }: HttpService): Promise<void> {
  await watch.waitFor(reply.positions, READ_YOUR_WRITES_LIMIT_MS);
  const jobId = reply.job_id ?? '';
  // The charge stands, so a database that fails now must not turn the answer into a refusal.
  const isThere = await isJobThere(pool, jobId).catch(() => false);
  if (!isThere) await freshness.check('job.events', jobId);
}

function acceptedCharge(reply: CommandReply): AcceptedCharge {
  if (reply.job_id === null || reply.item_count === null || reply.amount_cents === null)
    throw new Error('The ledger accepted a job without saying which.');
  return {
    jobId: reply.job_id,
    itemCount: reply.item_count,
    costCents: reply.amount_cents,
    replayed: reply.replayed,
  };
}

function refusedCharge(reply: CommandReply): Answer {
  switch (reply.refusal as Refusal) {
    case 'InsufficientBalance':
      return answers.insufficientBalance(reply.required_cents ?? 0, reply.balance_cents ?? 0);
    case 'BillingNotActive':
    case 'WalletNotFound':
      return answers.billingNotActive;
    case 'ApiKeyRevoked':
      return answers.invalidKey;
    case 'IdempotencyConflict':
      return answers.idempotencyConflict;
    case 'DeadlinePassed':
      return answers.notCharged;
    case 'WalletExists':
    case 'ApiKeyNotFound':
    case 'ApiKeyExists':
    case 'ChargeNotFound':
    case 'InvalidCommand':
      throw new Error(`The ledger refused a checked request: ${reply.refusal}.`);
  }
}
