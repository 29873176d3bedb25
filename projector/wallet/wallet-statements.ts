import type pg from 'pg';
import type { OpenWallet } from '#schemas/wallet.ts';
import { optionalText, text, timestamp } from '../column-values.ts';
import type { DebitClips, TransactionRow } from './wallet-rows.ts';

/** A row of `read_model.wallets`. */
export type WalletColumns = Readonly<{
  team_id: number;
  balance_cents: number;
  debited_cents: number;
  refunded_cents: number;
  captured_cents: number;
  topped_up_cents: number;
  active: boolean;
  seq: number;
  hash: Buffer;
}>;

/** The wallet in a row. */
export const walletOf = (row: WalletColumns): OpenWallet => ({
  status: 'open',
  active: row.active,
  balanceCents: row.balance_cents,
  debitedCents: row.debited_cents,
  refundedCents: row.refunded_cents,
  capturedCents: row.captured_cents,
  toppedUpCents: row.topped_up_cents,
  seq: row.seq,
  hash: row.hash,
});

/** The wallets of these teams, as far as they are open. */
export async function readWallets(
  client: pg.ClientBase,
  teamIds: readonly number[],
): Promise<ReadonlyMap<number, OpenWallet>> {
  const { rows } = await client.query<WalletColumns>(
    'SELECT * FROM read_model.wallets WHERE team_id = ANY ($1::bigint[])',
    [teamIds],
  );
  return new Map(rows.map((row) => [row.team_id, walletOf(row)]));
}

/** The clip ids of these debits. */
export async function readDebitClips(
  client: pg.ClientBase,
  debitIds: readonly string[],
): Promise<ReadonlyMap<string, DebitClips>> {
  const { rows } = await client.query<{ event_id: string; clip_id: number | null; clip_id_step: number }>(
    `SELECT event_id, clip_id, clip_id_step FROM read_model.wallet_transactions
     WHERE event_id = ANY ($1::uuid[]) AND type = 'WalletDebited'`,
    [debitIds],
  );
  return new Map(
    rows.map((row) => [row.event_id, { firstClipId: row.clip_id, clipIdStep: row.clip_id_step }]),
  );
}

/** Adds rows; one that is there already stays as it is. */
export async function insertTransactions(
  client: pg.ClientBase,
  rows: readonly TransactionRow[],
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.wallet_transactions
       (team_id, seq, event_id, type, amount_cents, balance_after_cents, job_id, clip_id, debit_id, item,
        item_count, clip_id_step, reference, reason, actor, occurred_at)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::bigint[], $6::bigint[],
                          $7::uuid[], $8::bigint[], $9::uuid[], $10::int[], $11::int[], $12::int[],
                          $13::text[], $14::text[], $15::text[], $16::timestamptz[])
     ON CONFLICT DO NOTHING`,
    [
      rows.map((row) => row.teamId),
      rows.map((row) => row.seq),
      rows.map((row) => row.eventId),
      rows.map((row) => row.type),
      rows.map((row) => row.amountCents),
      rows.map((row) => row.balanceAfterCents),
      rows.map((row) => row.jobId),
      rows.map((row) => row.clipId),
      rows.map((row) => row.debitId),
      rows.map((row) => row.item),
      rows.map((row) => row.itemCount),
      rows.map((row) => row.clipIdStep),
      rows.map((row) => optionalText(row.reference)),
      rows.map((row) => optionalText(row.reason)),
      rows.map((row) => text(row.actor)),
      rows.map((row) => timestamp(row.occurredAtMs)),
    ],
  );
}

/** Writes whole wallets, new ones and changed ones. */
export async function saveWallets(
  client: pg.ClientBase,
  wallets: ReadonlyMap<number, OpenWallet>,
): Promise<void> {
  const rows = [...wallets.values()];
  await client.query(
    `INSERT INTO read_model.wallets
       (team_id, balance_cents, debited_cents, refunded_cents, captured_cents, topped_up_cents, active, seq, hash)
     SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                          $7::boolean[], $8::bigint[], $9::bytea[])
     ON CONFLICT (team_id) DO UPDATE SET
       balance_cents = excluded.balance_cents,
       debited_cents = excluded.debited_cents,
       refunded_cents = excluded.refunded_cents,
       captured_cents = excluded.captured_cents,
       topped_up_cents = excluded.topped_up_cents,
       active = excluded.active,
       seq = excluded.seq,
       hash = excluded.hash`,
    [
      [...wallets.keys()],
      rows.map((wallet) => wallet.balanceCents),
      rows.map((wallet) => wallet.debitedCents),
      rows.map((wallet) => wallet.refundedCents),
      rows.map((wallet) => wallet.capturedCents),
      rows.map((wallet) => wallet.toppedUpCents),
      rows.map((wallet) => wallet.active),
      rows.map((wallet) => wallet.seq),
      rows.map((wallet) => wallet.hash),
    ],
  );
}
