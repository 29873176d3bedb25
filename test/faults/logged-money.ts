import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { isSealIntact } from '#schemas/chain.ts';
import { decodeRecord } from '#schemas/codec.ts';
import type { ClipCompleted, ClipFailed, JobRequested, WalletDebited } from '#schemas/records.ts';
import { evolveWallet, unopenedWallet, type Wallet, type WalletEvent } from '#schemas/wallet.ts';

type TerminalEvent =
  | Readonly<{ name: 'ClipCompleted'; value: ClipCompleted }>
  | Readonly<{ name: 'ClipFailed'; value: ClipFailed }>;

/** What the log says of jobs and money, and whatever in it cannot be right. */
export type LoggedMoney = Readonly<{
  debits: ReadonlyMap<string, readonly WalletDebited[]>;
  requests: ReadonlyMap<string, readonly JobRequested[]>;
  /** First terminal event of each clip, by `<job>/<item>`. */
  ends: ReadonlyMap<string, TerminalEvent>;
  /** Names of the events that settled each item, by `<debit>/<item>`. */
  settlements: ReadonlyMap<string, readonly string[]>;
  wallets: ReadonlyMap<number, Wallet>;
  faults: readonly string[];
}>;

/** Reads `wallet.events` and `job.events` to their ends and replays them, apart from the service's own auditor. */
export async function readLoggedMoney(kafka: KafkaConnection): Promise<LoggedMoney> {
  const debits = new Map<string, WalletDebited[]>();
  const requests = new Map<string, JobRequested[]>();
  const ends = new Map<string, TerminalEvent>();
  const settlements = new Map<string, string[]>();
  const wallets = new Map<number, Wallet>();
  const faults: string[] = [];

  for await (const { records } of readLog(kafka, { topics: ['wallet.events', 'job.events'] })) {
    for (const { value: bytes } of records) {
      const record = decodeRecord(bytes);
      switch (record.name) {
        case 'JobRequested':
          append(requests, record.value.job_id, record.value);
          break;
        case 'ClipCompleted':
        case 'ClipFailed': {
          const clip = `${record.value.job_id}/${record.value.item}`;
          if (!ends.has(clip)) ends.set(clip, record);
          break;
        }
        case 'WalletOpened':
        case 'BillingActivated':
        case 'BillingDeactivated':
        case 'WalletToppedUp':
        case 'WalletDebited':
        case 'WalletRefunded':
        case 'ChargeCaptured':
          if (!isSealIntact(bytes)) faults.push(`${record.name} ${record.value.event_id}: wrong hash`);
          if (record.name === 'WalletDebited') append(debits, record.value.job_id, record.value);
          if (record.name === 'WalletRefunded' || record.name === 'ChargeCaptured')
            append(settlements, `${record.value.debit_id}/${record.value.item}`, record.name);
          faults.push(...replay(wallets, record));
          break;
        default:
          break;
      }
    }
  }
  return { debits, requests, ends, settlements, wallets, faults };
}

/** Folds `event` into its team's wallet and says what is wrong with it. */
function replay(wallets: Map<number, Wallet>, event: WalletEvent): readonly string[] {
  const { team_id: teamId, seq, prev_hash: previousHash, event_id: eventId } = event.value;
  const before = wallets.get(teamId) ?? unopenedWallet;
  const after = evolveWallet(before, event);
  wallets.set(teamId, after);
  const faults: string[] = [];
  const expectedSeq = before.status === 'open' ? before.seq + 1 : 1;
  if (seq !== expectedSeq) faults.push(`${event.name} ${eventId}: seq ${seq} instead of ${expectedSeq}`);
  if (before.status === 'open' && !previousHash.equals(before.hash))
    faults.push(`${event.name} ${eventId}: does not follow the event before it`);
  if (after.status === 'open' && after.balanceCents < 0)
    faults.push(`${event.name} ${eventId}: balance ${after.balanceCents}`);
  if (after.status === 'open' && 'balance_cents' in event.value) {
    const stated = event.value.balance_cents;
    if (stated !== after.balanceCents)
      faults.push(`${event.name} ${eventId}: states ${stated}, replay gives ${after.balanceCents}`);
  }
  return faults;
}

function append<Key, Value>(to: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = to.get(key);
  if (values === undefined) to.set(key, [value]);
  else values.push(value);
}
