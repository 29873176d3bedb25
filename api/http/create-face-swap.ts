import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FaceSwapOptions } from '#schemas/records.ts';
import { findDebit } from '../read-model.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { type AcceptedCharge, type ChargeOutcome, chargeJob, replayable } from './charge-job.ts';
import { clientGone } from './client-gone.ts';
import {
  checkFaceSwapFields,
  type FaceSwapRequest,
  type FaceSwapResponseBody,
  faceSwapFileRules,
  faceSwapFormFields,
  faceSwapHash,
  parseFaceSwapRequest,
  type SwapSource,
} from './face-swap-request.ts';
import type { HttpService } from './http-service.ts';
import { idempotentDebitId, parseIdempotencyKey } from './idempotency-key.ts';
import { createdJobHeaders } from './job-headers.ts';
import { type Quote, quoteFaceSwap } from './quote-face-swap.ts';
import { receiveForm } from './uploads/receive-form.ts';
import type { FormRules } from './uploads/received-form.ts';

const CENTS_PER_SECOND = 20;
/** For this long a repeated request surely gets its first answer from the ledger. */
const REPEATABLE_MS = 24 * 3_600_000;

type Create = Readonly<{
  request: FastifyRequest;
  reply: FastifyReply;
  traceparent: string | undefined;
}>;

/** Everything that is settled before the price is known. */
type Order = Readonly<{
  request: FaceSwapRequest;
  jobId: string;
  idempotencyKey: string | undefined;
  traceparent: string | undefined;
  principal: Principal;
  gone: AbortSignal;
  /** Deletes what was uploaded for it. */
  discard: () => Promise<void>;
}>;

/** `POST /v1/face-swap` with a JSON body: two URLs. */
export async function createFaceSwap(
  { request, reply, traceparent }: Create,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const idempotency = parseIdempotencyKey(request.headers['idempotency-key']);
  if ('refused' in idempotency) return idempotency.refused;
  const parsed = parseFaceSwapRequest(request.body, new Map(), service.config.EGRESS_ALLOW);
  if ('refused' in parsed) return parsed.refused;
  const order = {
    request: parsed.request,
    jobId: randomUUID(),
    idempotencyKey: idempotency.key,
    traceparent,
    principal,
    gone: clientGone(reply),
    discard: async () => undefined,
  };
  return answerTo(await placeOrder(order, service), order, service);
}

/** `POST /v1/face-swap` as a form: its files go to object storage first, and leave it when the job does not get them. */
export async function createFaceSwapFromForm(
  { request, reply, traceparent }: Create,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const idempotency = parseIdempotencyKey(request.headers['idempotency-key']);
  if ('refused' in idempotency) return idempotency.refused;
  const jobId = randomUUID();
  const received = await receiveForm(request, formRules(jobId, service.config), principal.teamId, service);
  if ('refused' in received) return received.refused;
  const { form, discard } = received;
  const parsed = parseFaceSwapRequest(
    Object.fromEntries(form.fields),
    form.files,
    service.config.EGRESS_ALLOW,
  );
  if ('refused' in parsed) {
    await discard();
    return parsed.refused;
  }
  const order = {
    request: parsed.request,
    jobId,
    idempotencyKey: idempotency.key,
    traceparent,
    principal,
    gone: clientGone(reply),
    discard,
  };
  return answerTo(await placeOrder(order, service), order, service);
}

const formRules = (jobId: string, config: HttpService['config']): FormRules => ({
  files: faceSwapFileRules(config),
  fields: faceSwapFormFields,
  jobId,
  refuseEarly: (fields, fileFields) => {
    const checked = checkFaceSwapFields(Object.fromEntries(fields), fileFields, config.EGRESS_ALLOW);
    return 'errors' in checked ? answers.invalid(checked.errors) : undefined;
  },
});

/** Finds the price and charges it. */
async function placeOrder(order: Order, service: HttpService): Promise<ChargeOutcome> {
  let isKept = false;
  try {
    const priced = await priceOrder(order, service);
    if ('refused' in priced) return { outcome: 'refused', answer: priced.refused };
    // From here on the job may be paid for, whatever is heard of it, and then needs what was uploaded.
    isKept = true;
    const { idempotencyKey, traceparent, principal } = order;
    const terms = termsOf(order, priced.durationSeconds);
    const outcome = await chargeJob({ terms, idempotencyKey, traceparent }, principal, service);
    isKept = needsUploads(outcome, order.jobId);
    return outcome;
  } finally {
    if (!isKept) await order.discard();
  }
}

/** A repeated request gets the first one's job, which has files of its own. */
const needsUploads = (outcome: ChargeOutcome, jobId: string): boolean =>
  outcome.outcome === 'unknown' || (outcome.outcome === 'accepted' && outcome.charge.jobId === jobId);

async function priceOrder(order: Order, service: HttpService): Promise<Quote> {
  const { request, principal, gone } = order;
  return (await earlierQuote(order, service)) ?? quoteFaceSwap(request, principal.teamId, service, gone);
}

const termsOf = ({ request, jobId }: Order, durationSeconds: number) => ({
  job_id: jobId,
  kind: 'face_swap',
  item_count: 1,
  item_cents: durationSeconds * CENTS_PER_SECOND,
  request_hash: faceSwapHash(request),
  clip: null,
  face_swap: faceSwapOptions(request, durationSeconds),
  callback_url: request.callbackUrl,
});

/**
 * What was paid under this Idempotency-Key not long ago. The ledger gives such a request its first answer
 * again, so its sources, which may be gone by now, are not looked at.
 */
async function earlierQuote(
  { idempotencyKey, principal }: Order,
  { pool, now }: HttpService,
): Promise<Quote | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const { teamId } = principal;
  const eventId = idempotentDebitId(teamId, idempotencyKey);
  const debit = await findDebit(pool, { teamId, eventId });
  const isOfSwap = debit !== undefined && debit.firstClipId === null;
  if (!isOfSwap || now().getTime() - debit.occurredAt.getTime() > REPEATABLE_MS) return undefined;
  return { durationSeconds: debit.amountCents / CENTS_PER_SECOND };
}

function faceSwapOptions(
  { mode, video, faceImage }: FaceSwapRequest,
  durationSeconds: number,
): FaceSwapOptions {
  const urlOf = (source: SwapSource) => ('url' in source ? source.url : null);
  const keyOf = (source: SwapSource) => ('file' in source ? source.file.objectKey : null);
  return {
    video_url: urlOf(video),
    video_object_key: keyOf(video),
    face_image_url: urlOf(faceImage),
    face_image_object_key: keyOf(faceImage),
    mode,
    duration_seconds: durationSeconds,
  };
}

function answerTo(outcome: ChargeOutcome, { request }: Order, { config }: HttpService): Answer {
  if (outcome.outcome !== 'accepted') return outcome.answer;
  const { charge } = outcome;
  const headers = createdJobHeaders(config, '/v1/face-swap', charge.jobId);
  return replayable({ ...answers.accepted(acceptedSwap(charge, request)), headers }, charge);
}

const acceptedSwap = (
  { jobId, costCents }: AcceptedCharge,
  { mode }: FaceSwapRequest,
): FaceSwapResponseBody => ({
  job_id: jobId,
  mode,
  duration_seconds: costCents / CENTS_PER_SECOND,
  cost_cents: costCents,
  status: 'processing',
});
