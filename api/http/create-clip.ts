import { randomUUID } from 'node:crypto';
import type { ClipOptions, CommandReply } from '#schemas/records.ts';
import { commandEnvelope } from '../command-envelope.ts';
import type { Refusal } from '../ledger/decision.ts';
import { LedgerUnavailable } from '../ledger/ledger-client.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { type ClipResponseBody, parseClipRequest } from './clip-request.ts';
import { type HttpService, READ_YOUR_WRITES_LIMIT_MS } from './http-service.ts';
import { idempotentCommandId, parseIdempotencyKey, requestHash } from './idempotency-key.ts';

export const CLIP_CENTS = 150;

export type CreateClipRequest = Readonly<{
  body: unknown;
  idempotencyKey: string | readonly string[] | undefined;
  traceparent: string | undefined;
}>;

/** `POST /v1/clip` with a JSON body: checks it, then charges for it and requests it in one command. */
export async function createClip(
  request: CreateClipRequest,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const idempotency = parseIdempotencyKey(request.idempotencyKey);
  if ('refused' in idempotency) return idempotency.refused;
  const parsed = parseClipRequest(request.body, service.config.EGRESS_ALLOW);
  if ('refused' in parsed) return parsed.refused;

  const command = requestJob(parsed.options, idempotency.key, principal, service);
  let reply: CommandReply;
  try {
    reply = await service.ledger.submit(command, { traceparent: request.traceparent });
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    service.log.warn({ err: error, teamId: principal.teamId }, 'The ledger did not answer a charge.');
    return answers.chargeUnknown(idempotency.key !== undefined);
  }
  if (reply.outcome === 'refused') return refusedCharge(reply);
  await untilReadable(reply, service);
  return acceptedCharge(reply);
}

function requestJob(
  options: ClipOptions,
  idempotencyKey: string | undefined,
  principal: Principal,
  { config, now }: HttpService,
) {
  const commandId =
    idempotencyKey === undefined ? {} : { commandId: idempotentCommandId(principal.teamId, idempotencyKey) };
  const at = now();
  const value = {
    ...commandEnvelope({
      teamId: principal.teamId,
      actor: `key:${principal.keyId}`,
      now: at,
      ...commandId,
    }),
    job_id: randomUUID(),
    kind: 'clip',
    item_count: options.num_clips,
    item_cents: CLIP_CENTS,
    request_hash: requestHash('POST /v1/clip', options),
    job_deadline_at: at.getTime() + config.JOB_DEADLINE,
    clip: options,
    face_swap: null,
    callback_url: null,
  };
  return { name: 'RequestJob', value } as const;
}

/** A first answer that is given again names no positions: then the job's own are what has to be applied. */
async function untilReadable(reply: CommandReply, { watch, freshness }: HttpService): Promise<void> {
  if (reply.replayed) await freshness.check('job.events', reply.job_id ?? '');
  else await watch.waitFor(reply.positions, READ_YOUR_WRITES_LIMIT_MS);
}

function acceptedCharge(reply: CommandReply): Answer {
  if (reply.job_id === null || reply.item_count === null || reply.amount_cents === null)
    throw new Error('The ledger accepted a job without saying which.');
  const body: ClipResponseBody = {
    job_id: reply.job_id,
    num_clips: reply.item_count,
    cost_cents: reply.amount_cents,
    status: 'processing',
  };
  const answer = answers.ok(body);
  return reply.replayed ? { ...answer, headers: { 'idempotency-replayed': 'true' } } : answer;
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
