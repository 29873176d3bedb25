import type pg from 'pg';
import type { Logger } from '#infra/log.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import { chainBreaks } from '../projector-metrics.ts';
import { type DebitClips, foldWalletRows, type WalletRows } from './wallet-rows.ts';
import { insertTransactions, readDebitClips, readWallets, saveWallets } from './wallet-statements.ts';

/**
 * Writes the rows of wallets and their transactions. `events` are in the order of their partitions.
 * Returns the jobs of which items were settled.
 */
export async function projectWalletEvents(
  client: pg.ClientBase,
  events: readonly WalletEvent[],
  log: Logger,
): Promise<ReadonlySet<string>> {
  if (events.length === 0) return new Set();
  const wallets = await readWallets(client, [...new Set(events.map(({ value }) => value.team_id))]);
  const rows = foldWalletRows(events, { wallets, debits: await readNamedDebits(client, events) });
  if (rows.transactions.length > 0) {
    await insertTransactions(client, rows.transactions);
    await saveWallets(client, rows.wallets);
  }
  reportChainBreaks(rows, log);
  return new Set(
    rows.transactions.flatMap(({ item, jobId }) => (item === null || jobId === null ? [] : [jobId])),
  );
}

/** The debits that refunds and captures name, as far as they are rows already. */
async function readNamedDebits(
  client: pg.ClientBase,
  events: readonly WalletEvent[],
): Promise<ReadonlyMap<string, DebitClips>> {
  const named = new Set(events.flatMap(({ value }) => ('debit_id' in value ? [value.debit_id] : [])));
  return named.size === 0 ? new Map() : readDebitClips(client, [...named]);
}

function reportChainBreaks(rows: WalletRows, log: Logger): void {
  for (const { name, value } of rows.chainBreaks) {
    chainBreaks.inc();
    log.error(
      { teamId: value.team_id, seq: value.seq, eventId: value.event_id, event: name },
      'A wallet event does not continue its chain; `npm run audit -- verify` says what is wrong.',
    );
  }
}
