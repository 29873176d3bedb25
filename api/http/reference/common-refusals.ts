import { answers } from '../answers.ts';
import { fieldError } from '../field-rules.ts';
import { JSON_BODY_LIMIT_BYTES } from '../json-body.ts';
import type { Refusal } from './operation.ts';

/** What every operation with a key refuses, in the order of its checks. */
export const keyRefusals: readonly Refusal[] = [
  { when: 'There is no X-API-Key header.', answer: answers.missingKey },
  { when: 'The key does not exist, or was revoked.', answer: answers.invalidKey },
  { when: 'The key is past its expires_at.', answer: answers.expiredKey },
  { when: 'The team has no active billing account.', answer: answers.billingNotActive },
  {
    when: "The team's wallet is empty. This holds for every request, cancelling a job included; an operator can let GET requests through.",
    answer: answers.zeroBalance,
  },
  { when: 'The key made more requests than it may in a minute.', answer: answers.rateLimited(42) },
  {
    when: 'Too many requests with keys that are not valid came from this address.',
    answer: answers.tooManyFailedKeys(42),
  },
];

/** What can happen to every request. */
export const serviceRefusals: readonly Refusal[] = [
  {
    when: 'The request cannot be read as HTTP.',
    answer: answers.brokenRequest('The request cannot be read.'),
  },
  {
    when: 'The Host header is missing, or is there more than once.',
    answer: answers.brokenRequest('The Host header is missing. HTTP/1.1 needs one.'),
  },
  {
    when: 'There is an Expect header with anything else than 100-continue.',
    answer: answers.unknownExpectation,
  },
  { when: 'The request took too long to arrive.', answer: answers.requestTimeout },
  { when: 'The headers are too large.', answer: answers.headersTooLarge },
  { when: 'A fault of the service.', answer: answers.internal },
  { when: 'Something that the service stands on is down.', answer: answers.unavailable },
];

/** What every operation that reads the records can answer while they are not up to date. */
export const catchingUp: Refusal = {
  when: 'The records that the answer needs are not up to date.',
  answer: answers.catchingUp,
};

const example = fieldError(['num_clips'], 'must be an integer from 1 to 10');

/** What every operation that takes JSON refuses. */
export const jsonRefusals: readonly Refusal[] = [
  {
    when: 'A field is missing, not known, or not what it must be. `details` has all of them.',
    answer: answers.invalid([example]),
  },
  { when: 'The body is not JSON.', answer: answers.brokenJson },
  { when: 'The body is not UTF-8.', answer: answers.brokenUtf8 },
  { when: 'The body is too large.', answer: answers.bodyTooLarge(JSON_BODY_LIMIT_BYTES) },
  { when: 'The Content-Type is not one that the operation takes.', answer: answers.unsupportedContentType },
  { when: 'The body is compressed.', answer: answers.unsupportedCoding },
  { when: 'The JSON is in another charset than UTF-8.', answer: answers.otherCharset },
];

/** What a create refuses of a form, besides what it does of JSON. */
export const formRefusals = (field: string, what: string, maxBytes: number): readonly Refusal[] => [
  {
    when: 'The form cannot be read.',
    answer: answers.brokenRequest('The multipart body is broken: its parts and boundaries cannot be read.'),
  },
  { when: 'The upload stopped on the way.', answer: answers.uploadTooSlow },
  { when: 'A file is too large.', answer: answers.fileTooLarge(field, maxBytes) },
  {
    when: 'A file is of a type that is not taken. What counts is its content, not its name.',
    answer: answers.wrongFileType(field, what),
  },
  { when: 'Too many uploads are under way.', answer: answers.tooManyUploads },
  { when: 'The instance is stopping.', answer: answers.stopping },
];
