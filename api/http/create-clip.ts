import { randomUUID } from 'node:crypto';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { type AcceptedCharge, chargeJob, replayable } from './charge-job.ts';
import { type ClipResponseBody, parseClipRequest } from './clip-request.ts';
import type { HttpService } from './http-service.ts';
import { parseIdempotencyKey, requestHash } from './idempotency-key.ts';
import { createdJobHeaders } from './job-headers.ts';

const CLIP_CENTS = 150;

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
  const { options } = parsed;

  const terms = {
    job_id: randomUUID(),
    kind: 'clip',
    item_count: options.num_clips,
    item_cents: CLIP_CENTS,
    request_hash: requestHash('POST /v1/clip', options),
    clip: options,
    face_swap: null,
    callback_url: null,
  };
  const { traceparent } = request;
  const outcome = await chargeJob(
    { terms, idempotencyKey: idempotency.key, traceparent },
    principal,
    service,
  );
  return outcome.outcome === 'accepted' ? acceptedClips(outcome.charge, service) : outcome.answer;
}

function acceptedClips(charge: AcceptedCharge, { config }: HttpService): Answer {
  const body: ClipResponseBody = {
    job_id: charge.jobId,
    num_clips: charge.itemCount,
    cost_cents: charge.costCents,
    status: 'processing',
  };
  const answer = { ...answers.ok(body), headers: createdJobHeaders(config, '/v1/clip', charge.jobId) };
  return replayable(answer, charge);
}
