import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { type AcceptedCharge, chargeJob, replayable } from './charge-job.ts';
import {
  clipFileRules,
  clipFilesOf,
  clipFormFields,
  parseClipForm,
  refuseClipFormEarly,
} from './clip-form.ts';
import { type ClipRequest, type ClipResponseBody, parseClipRequest } from './clip-request.ts';
import type { HttpService } from './http-service.ts';
import { parseIdempotencyKey, requestHash } from './idempotency-key.ts';
import { createdJobHeaders } from './job-headers.ts';
import { receiveForm } from './uploads/receive-form.ts';
import type { ReceivedForm } from './uploads/received-form.ts';

const CLIP_CENTS = 150;
const OPERATION = 'POST /v1/clip';

type Repetition = Readonly<{
  idempotencyKey: string | readonly string[] | undefined;
  traceparent: string | undefined;
}>;

/** `POST /v1/clip` with a JSON body: checks it, then charges for it and requests it in one command. */
export async function createClip(
  request: Repetition & Readonly<{ body: unknown }>,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const idempotency = parseIdempotencyKey(request.idempotencyKey);
  if ('refused' in idempotency) return idempotency.refused;
  const parsed = parseClipRequest(request.body, service.config.EGRESS_ALLOW);
  if ('refused' in parsed) return parsed.refused;
  const { options, callbackUrl } = parsed;
  const terms = clipTerms(parsed, {
    jobId: randomUUID(),
    requestHash: requestHash(OPERATION, options, callbackUrl),
  });
  const { traceparent } = request;
  const outcome = await chargeJob(
    { terms, idempotencyKey: idempotency.key, traceparent },
    principal,
    service,
  );
  return outcome.outcome === 'accepted' ? acceptedClips(outcome.charge, service) : outcome.answer;
}

/** `POST /v1/clip` as a form: its files go to object storage first, and leave it when the job does not get them. */
export async function createClipFromForm(
  { request, ...repetition }: Repetition & Readonly<{ request: FastifyRequest }>,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const idempotency = parseIdempotencyKey(repetition.idempotencyKey);
  if ('refused' in idempotency) return idempotency.refused;
  const jobId = randomUUID();
  const { config } = service;
  const received = await receiveForm(
    request,
    {
      files: clipFileRules(config),
      fields: clipFormFields,
      jobId,
      refuseEarly: (fields, files) => refuseClipFormEarly(fields, files, config.EGRESS_ALLOW),
    },
    principal.teamId,
    service,
  );
  if ('refused' in received) return received.refused;
  const { form, discard } = received;
  const parsed = parseClipForm(form, config.EGRESS_ALLOW);
  if ('refused' in parsed) {
    await discard();
    return parsed.refused;
  }
  const terms = clipTerms(parsed, { jobId, requestHash: formHash(parsed, form) });
  const { traceparent } = repetition;
  const outcome = await chargeJob(
    { terms, idempotencyKey: idempotency.key, traceparent },
    principal,
    service,
  );
  if (outcome.outcome === 'refused') await discard();
  if (outcome.outcome !== 'accepted') return outcome.answer;
  // A repeated request gets the first one's job, which has files of its own.
  if (outcome.charge.jobId !== jobId) await discard();
  return acceptedClips(outcome.charge, service);
}

const clipTerms = (
  { options, callbackUrl }: ClipRequest,
  made: { readonly jobId: string; readonly requestHash: string },
) => ({
  job_id: made.jobId,
  kind: 'clip',
  item_count: options.num_clips,
  item_cents: CLIP_CENTS,
  request_hash: made.requestHash,
  clip: options,
  face_swap: null,
  callback_url: callbackUrl,
});

/** A file counts by its content; what it is called and where it is stored differ when it is sent again. */
function formHash({ options, callbackUrl }: ClipRequest, form: ReceivedForm): string {
  const { video, music } = clipFilesOf(form);
  const byContent = {
    ...(video !== undefined && { video_object_key: `sha256:${video.sha256}`, video_file_name: null }),
    ...(music !== undefined && { music_object_key: `sha256:${music.sha256}` }),
  };
  return requestHash(OPERATION, { ...options, ...byContent }, callbackUrl);
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
