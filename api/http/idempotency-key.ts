import { createHash } from 'node:crypto';
import { debitIdOf, derivedUuid } from '#schemas/ids.ts';
import { type Answer, answers } from './answers.ts';

/** Never change it: the command ids of all requests that were made with an Idempotency-Key derive from it. */
const NAMESPACE = '6f0c1b1e-6a53-5d0e-9a4f-0d7c0e6f2a41';

const keyPattern = /^[\x20-\x7e]{1,255}$/;

/** The request's Idempotency-Key, undefined without one, or the answer that refuses it. */
export function parseIdempotencyKey(
  header: string | readonly string[] | undefined,
): Readonly<{ key: string | undefined }> | Readonly<{ refused: Answer }> {
  if (header === undefined) return { key: undefined };
  if (typeof header === 'string' && keyPattern.test(header)) return { key: header };
  const message = 'The Idempotency-Key header must have 1 to 255 printable ASCII characters.';
  return { refused: answers.invalid([{ path: 'Idempotency-Key', message }]) };
}

/** The id that every repetition of a team's request under this key gives its command, on any instance. */
export const idempotentCommandId = (teamId: number, key: string): string =>
  derivedUuid(NAMESPACE, `team:${teamId}:${key}`);

/** The id of the debit that a request under this key caused, or would cause. */
export const idempotentDebitId = (teamId: number, key: string): string =>
  debitIdOf(idempotentCommandId(teamId, key));

/**
 * Tells a repeated request from another one. `request` is made in code, so its fields have one order. Without
 * a callback the hash is what it was before there were callbacks.
 */
export const requestHash = (operation: string, request: unknown, callbackUrl: string | null = null): string =>
  createHash('sha256')
    .update(JSON.stringify(callbackUrl === null ? [operation, request] : [operation, request, callbackUrl]))
    .digest('hex');
