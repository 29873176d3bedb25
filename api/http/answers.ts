/** Every HTTP status and error body of the service; nothing else names a status. */

export type Answer = Readonly<{
  status: number;
  body: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
}>;

/** One thing that is wrong with a request: where, and what to change. */
export type FieldError = Readonly<{ path: string; message: string }>;

const refusal = (status: number, error: string, more: Readonly<Record<string, unknown>> = {}): Answer => ({
  status,
  body: { error, ...more },
});

const UNAVAILABLE_RETRY_SECONDS = 2;

const unavailable = (error: string): Answer => ({
  ...refusal(503, error),
  headers: { 'retry-after': String(UNAVAILABLE_RETRY_SECONDS) },
});

/** Most who ask a collection for what only its members have left the id out. */
const hint = (withId: string | undefined): string | undefined =>
  withId === undefined ? undefined : `The id is missing: ${withId.replace(/:(\w+)/, '{$1}')}.`;

const NO_WEBHOOKS =
  'Webhooks are not set up on this service: its operator has to set WEBHOOK_MASTER_KEY. Until then leave callback_url out and poll. Nothing was charged.';

export const answers = {
  ok: (body: Answer['body']): Answer => ({ status: 200, body }),
  created: (body: Answer['body']): Answer => ({ status: 201, body }),
  cancelling: (body: Answer['body']): Answer => ({
    status: 202,
    body,
    headers: { 'retry-after': String(UNAVAILABLE_RETRY_SECONDS) },
  }),
  accepted: (body: Answer['body']): Answer => ({ status: 202, body }),

  invalid: (details: readonly FieldError[]): Answer =>
    refusal(400, details[0]?.message ?? 'The request is not valid.', { details }),
  brokenJson: refusal(400, 'The body is not valid JSON.'),
  brokenUtf8: refusal(400, 'The body is not valid UTF-8, which JSON has to be in.'),
  brokenRequest: (because: string): Answer => refusal(400, because),

  missingKey: refusal(401, 'Missing X-API-Key header'),
  invalidKey: refusal(401, 'Invalid API key'),
  expiredKey: refusal(401, 'API key expired'),

  zeroBalance: refusal(402, 'Insufficient balance'),
  insufficientBalance: (requiredCents: number, balanceCents: number): Answer =>
    refusal(402, 'Insufficient wallet balance', {
      required_cents: requiredCents,
      balance_cents: balanceCents,
    }),

  billingNotActive: refusal(403, 'API billing not active'),

  unknownRoute: refusal(404, 'There is nothing at this path. Check it, and the version prefix /v1.'),
  jobNotFound: refusal(404, 'Job not found'),
  keyNotFound: refusal(404, 'API key not found'),
  deliveryNotFound: refusal(404, 'Delivery not found'),

  wrongMethod: (method: string, allowed: readonly string[], withId?: string): Answer => ({
    ...refusal(
      405,
      [`${method} is not allowed here; use ${allowed.join(' or ')}.`, hint(withId)].join(' ').trim(),
    ),
    headers: { allow: allowed.join(', ') },
  }),
  uploadTooSlow: refusal(
    408,
    'The upload did not arrive within the time limit, or stopped on the way. Send it again.',
  ),
  jobFinished: refusal(409, 'The job is finished already, so there is nothing left to cancel.'),
  tooManyKeys: (limit: number): Answer =>
    refusal(
      409,
      `The team has ${limit} active keys, and may have no more. Revoke one that is not used: DELETE /v1/keys/{key_id}.`,
    ),
  requestTimeout: refusal(408, 'The request did not arrive within the time limit. Send it again.'),
  bodyTooLarge: (limitBytes: number): Answer =>
    refusal(413, `The body is larger than the limit of ${limitBytes} bytes.`),
  fileTooLarge: (field: string, limitBytes: number): Answer =>
    refusal(413, `${field} is larger than the limit of ${limitBytes} bytes.`),
  wrongFileType: (field: string, what: string): Answer =>
    refusal(415, `${field} must be a file of type ${what}; this one is not, judged by its content.`),
  unsupportedContentType: refusal(
    415,
    'The content type is not supported: send the body as application/json, or as multipart/form-data where the operation takes files.',
  ),
  otherCharset: refusal(415, 'The charset is not supported: send JSON in UTF-8.'),
  unsupportedCoding: refusal(
    415,
    'A Content-Encoding is not supported: send the body as it is, without compression.',
  ),
  unknownExpectation: refusal(417, 'The only Expect that is known is 100-continue.'),
  idempotencyConflict: refusal(
    422,
    'This Idempotency-Key was used before with another request. Use a new key for a new request.',
  ),
  unusableSource: (because: string): Answer => refusal(422, because),
  rateLimited: (retryAfterSeconds: number): Answer => ({
    ...refusal(429, 'Rate limit exceeded'),
    headers: { 'retry-after': String(retryAfterSeconds) },
  }),
  tooManyFailedKeys: (retryAfterSeconds: number): Answer => ({
    ...refusal(
      429,
      'Too many requests with keys that are not valid came from this address. Try again later.',
    ),
    headers: { 'retry-after': String(retryAfterSeconds) },
  }),
  headersTooLarge: refusal(431, 'The request headers are too large.'),

  internal: refusal(500, 'Something went wrong on our side. Nothing more is known; try again later.'),

  webhooksNotSetUp: refusal(501, NO_WEBHOOKS, { details: [{ path: 'callback_url', message: NO_WEBHOOKS }] }),

  notReady: (body: Answer['body']): Answer => ({ status: 503, body }),
  unavailable: unavailable('The service cannot answer right now. Try again in a few seconds.'),
  catchingUp: unavailable('The service is catching up with its records. Try again in a few seconds.'),
  tooManyUploads: unavailable('Too many uploads are under way. Try again in a few seconds.'),
  tooManyProbes: unavailable('Too many videos are being looked at. Try again in a few seconds.'),
  stopping: unavailable('This instance of the service is stopping. Send the request again.'),
  notCharged: unavailable(
    'The service was too slow to accept the request, and nothing was charged. Send it again.',
  ),
  chargeUnknown: (hasIdempotencyKey: boolean): Answer =>
    unavailable(
      hasIdempotencyKey
        ? 'It is not known whether the request was accepted. Repeating it with the same Idempotency-Key is safe: it cannot be charged twice.'
        : 'It is not known whether the request was accepted; check GET /v1/wallet before sending it again. With an Idempotency-Key header, repeating it with the same Idempotency-Key is safe: it cannot be charged twice.',
    ),
  cancelUnknown: unavailable(
    'It is not known whether the job was cancelled. Send the request again: doing it twice changes nothing.',
  ),
  changeUnknown: unavailable(
    'It is not known whether the change was made. Look with GET /v1/keys before sending it again.',
  ),
} as const;
