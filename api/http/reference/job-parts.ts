import { z } from 'zod';
import { answers } from '../answers.ts';
import { cancellingBody } from '../cancel-job.ts';
import { fieldError } from '../field-rules.ts';
import type { Parameter, Refusal, Success } from './operation.ts';

/** What the operations on jobs have in common. */

export const jobId: Parameter = {
  in: 'path',
  name: 'jobId',
  description: 'The job_id that the create answered.',
  schema: z.string(),
  example: '0b7c1f7e-5d0f-4a55-9f5e-3c1a2b4d6e8f',
};

export const idempotencyKey: Parameter = {
  in: 'header',
  name: 'Idempotency-Key',
  description:
    'Makes it safe to send the request again: the same key with the same request gives the first answer again, without a second charge. 1 to 255 printable ASCII characters, kept for at least 24 hours for your team.',
  schema: z.string().regex(/^[\x20-\x7e]{1,255}$/),
  example: 'order-17',
};

/** What both creates refuse once the request is valid. */
export const createRefusals = (requiredCents: number, balanceCents: number): readonly Refusal[] => [
  {
    when: 'The Idempotency-Key is not one.',
    answer: answers.invalid([
      {
        path: 'Idempotency-Key',
        message: 'The Idempotency-Key header must have 1 to 255 printable ASCII characters.',
      },
    ]),
  },
  {
    when: 'The wallet has less than the job costs.',
    answer: answers.insufficientBalance(requiredCents, balanceCents),
  },
  {
    when: 'The Idempotency-Key was used before with another request.',
    answer: answers.idempotencyConflict,
  },
  { when: 'A callback_url, where webhooks are not set up.', answer: answers.webhooksNotSetUp },
  { when: 'The ledger was too slow. Nothing was charged.', answer: answers.notCharged },
  { when: 'The ledger did not answer in time.', answer: answers.chargeUnknown(true) },
  {
    when: 'The ledger did not answer in time, and there was no Idempotency-Key.',
    answer: answers.chargeUnknown(false),
  },
];

/** What both creates say to a URL that leads where nothing must be fetched. */
export const forbiddenUrl: Refusal = {
  when: 'A URL is one that the service must not fetch.',
  answer: answers.invalid([fieldError(['video_url'], 'cannot be used: its host is not a public address')]),
};

/** What both kinds of cancelling answer while it cannot be read yet what came back. */
export const cancellingAnswer = (jobId: string): Success => ({
  status: 202,
  when: 'It will be: what came back can be asked for by the same request in a moment.',
  body: { name: 'Cancelling', schema: cancellingBody },
  examples: { cancelling: { job_id: jobId, status: 'cancelling' } },
  headers: ['Retry-After'],
});

/** What both kinds of cancelling refuse. */
export const cancelRefusals: readonly Refusal[] = [
  { when: 'The job has ended already.', answer: answers.jobFinished },
  { when: 'The ledger did not answer in time.', answer: answers.cancelUnknown },
];
