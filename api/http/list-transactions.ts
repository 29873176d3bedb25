import { z } from 'zod';
import { type ListedTransaction, listTransactions } from '../read-lists.ts';
import { type Answer, answers } from './answers.ts';
import type { Principal } from './authentication.ts';
import { cursorAfter, cursorParameter } from './cursor.ts';
import { checkFields } from './field-rules.ts';
import type { HttpService } from './http-service.ts';
import { limitParameter, pageOf, queryOf } from './list-query.ts';

/** The query parameters of `GET /v1/wallet/transactions`. */
export const transactionListQuery = queryOf({
  cursor: cursorParameter('transactions', [z.int().min(1)]).optional(),
  limit: limitParameter,
});

const transactionBody = z.object({
  event_id: z.uuid(),
  /** 1 for the wallet's opening, and no number is left out. */
  seq: z.int(),
  /** The ledger's event, such as `WalletDebited`. */
  type: z.string(),
  /** What it added to the balance; below zero for a charge. */
  amount_cents: z.int(),
  /** The balance after it. */
  balance_cents: z.int(),
  job_id: z.uuid().nullable(),
  /** The clip that was refunded or earned, or that a charge for a single clip paid for. */
  clip_id: z.int().nullable(),
  /** The `event_id` of the charge that this is, or that was refunded or earned. */
  debit_id: z.uuid().nullable(),
  /** The payment of a top-up. */
  reference: z.string().nullable(),
  reason: z.string().nullable(),
  occurred_at: z.iso.datetime(),
});

export const transactionListBody = z.object({
  transactions: z.array(transactionBody),
  next_cursor: z.string().nullable(),
});

/**
 * `GET /v1/wallet/transactions`: every event of the wallet, newest first. All amounts together are the
 * balance, so a client can reconcile its own books with the ledger.
 */
export async function getTransactions(
  query: unknown,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const checked = checkFields(transactionListQuery, query);
  if ('errors' in checked) return answers.invalid(checked.errors);
  const { cursor, limit } = checked.value;
  const { teamId } = principal;
  if ((await service.freshness.check('wallet.events', String(teamId))) === 'behind')
    return answers.catchingUp;
  const found = await listTransactions(service.pool, { teamId, beforeSeq: cursor?.[0], most: limit + 1 });
  const { rows, last } = pageOf(found, limit);
  const body: z.output<typeof transactionListBody> = {
    transactions: rows.map(transaction),
    next_cursor: last === undefined ? null : cursorAfter('transactions', [last.seq]),
  };
  return answers.ok(body);
}

function transaction(row: ListedTransaction): z.output<typeof transactionBody> {
  // A charge for several clips is of none of them alone.
  const isOfOneClip = row.itemCount === null || row.itemCount === 1;
  return {
    event_id: row.eventId,
    seq: row.seq,
    type: row.type,
    amount_cents: row.amountCents,
    balance_cents: row.balanceAfterCents,
    job_id: row.jobId,
    clip_id: isOfOneClip ? row.clipId : null,
    debit_id: row.debitId,
    reference: row.reference,
    reason: row.reason,
    occurred_at: row.occurredAt.toISOString(),
  };
}
