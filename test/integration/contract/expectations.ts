import { expect } from 'vitest';
import { z } from 'zod';
import type { Answer } from './client.ts';

/** Bodies as the interface's tables have them, with no field more. */

const fieldErrors = z.array(z.strictObject({ path: z.string(), message: z.string() })).min(1);
const errorText = z.string().min(1);

export const bodies = {
  test: z.strictObject({
    status: z.literal('working'),
    team_id: z.int(),
    key_name: z.string(),
    timestamp: z.iso.datetime(),
  }),
  wallet: z.strictObject({
    balance_cents: z.int(),
    total_spent_cents: z.int(),
    total_topped_up_cents: z.int(),
    active: z.boolean(),
  }),
  clipCreated: z.strictObject({
    job_id: z.uuid(),
    num_clips: z.int(),
    cost_cents: z.int(),
    status: z.literal('processing'),
  }),
  clipProcessing: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('processing'),
    progress: z.strictObject({ completed: z.int(), total: z.int() }),
    stage: z.string().optional(),
  }),
  clipCompleted: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('completed'),
    clips: z.array(
      z.discriminatedUnion('status', [
        z.strictObject({
          clip_id: z.int(),
          status: z.literal('completed'),
          title: z.string().min(1),
          heading: z.string().optional(),
          download_url: z.url(),
          created_at: z.iso.datetime(),
        }),
        z.strictObject({
          clip_id: z.int(),
          status: z.literal('failed'),
          error: errorText,
          created_at: z.iso.datetime(),
        }),
      ]),
    ),
  }),
  keyCreated: z.strictObject({
    key_id: z.uuid(),
    name: z.string(),
    prefix: z.string(),
    key: z.string().regex(/^cl_[0-9A-Za-z]{36}$/),
    expires_at: z.iso.datetime().nullable(),
    created_at: z.iso.datetime(),
  }),
  key: z.strictObject({
    key_id: z.uuid(),
    name: z.string(),
    prefix: z.string(),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable(),
    revoked_at: z.iso.datetime().nullable(),
    last_used_at: z.iso.datetime().nullable(),
  }),
  clipCancelled: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('completed'),
    cancelled_clips: z.int(),
    refunded_cents: z.int(),
  }),
  swapCreated: z.strictObject({
    job_id: z.uuid(),
    mode: z.enum(['face', 'fullbody']),
    duration_seconds: z.int(),
    cost_cents: z.int(),
    status: z.literal('processing'),
  }),
  swapProcessing: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('processing'),
    progress: z.int().min(0).max(100),
    created_at: z.iso.datetime(),
  }),
  swapCompleted: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('completed'),
    download_url: z.url(),
    created_at: z.iso.datetime(),
  }),
  swapFailed: z.strictObject({
    job_id: z.uuid(),
    status: z.literal('failed'),
    error: errorText,
    created_at: z.iso.datetime(),
  }),
  jobList: z.strictObject({
    jobs: z.array(
      z.looseObject({
        job_id: z.uuid(),
        kind: z.enum(['clip', 'face_swap']),
        status: z.enum(['processing', 'completed', 'failed']),
        cost_cents: z.int(),
        created_at: z.iso.datetime(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  transactionList: z.strictObject({
    transactions: z.array(
      z.looseObject({
        event_id: z.uuid(),
        seq: z.int().min(1),
        type: z.string(),
        amount_cents: z.int(),
        balance_cents: z.int(),
        job_id: z.uuid().nullable(),
        occurred_at: z.iso.datetime(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
  deliveryList: z.strictObject({
    deliveries: z.array(
      z.looseObject({
        delivery_id: z.uuid(),
        job_id: z.uuid(),
        url: z.string(),
        status: z.enum(['pending', 'delivered', 'failed']),
        attempts: z.int(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
} as const;

/** The error of an answer that must refuse with this status, and with this text where one is given. */
export function expectError(answer: Answer, status: number, text?: string): string {
  const { error } = answer.body;
  expect({ status: answer.status, error }).toEqual({ status, error: text ?? expect.any(String) });
  expect(String(error).length).toBeGreaterThan(3);
  return String(error);
}

/** A 400 for a field: named first in `error`, and with what it must be. */
export function expectInvalid(answer: Answer, field: string, words: readonly string[]): void {
  const error = expectError(answer, 400);
  const details = fieldErrors.parse(answer.body['details']);
  expect(details.map(({ path }) => path)).toContain(field);
  expect(details[0]?.message).toBe(error);
  expect(error).toContain(field);
  for (const word of words) expect(error).toContain(word);
}

/** Every counted answer says where its key stands. */
export function expectRateLimit({ headers }: Answer, limit: number): void {
  expect(headers.get('ratelimit-limit')).toBe(String(limit));
  expect(headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
  expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThanOrEqual(1);
  expect(Number(headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
}
