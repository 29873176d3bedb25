import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { LogFetcher } from '#infra/kafka/log-fetcher.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { genesisHash, isSealIntact } from '#schemas/chain.ts';
import { decodeRecord } from '#schemas/codec.ts';
import type { Topic } from '#schemas/topics.ts';
import { type LedgerEvent, LedgerState } from './ledger-state.ts';
import { electionKey, stateOfSnapshots } from './state-snapshots.ts';

const MAX_WAIT_MS = 500;
/** The election was committed before; its marker shows within moments, or the cluster is in trouble. */
const SILENCE_LIMIT_MS = 30_000;

/** A chain in the log is broken: a person must look, and nothing may be decided on top of it. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain';
}

/** The state, and whether it came from the snapshots. From the events it has no command offset. */
export type RebuiltState = Readonly<{ state: LedgerState; source: 'snapshots' | 'events' }>;

/**
 * The state of a partition's ledger as of the election with this id, which its owner has just committed to
 * all three topics: reading goes on until that very record comes by, because control records and open
 * transactions hide where the log ends. From wallet.state, or, when that is not whole, from all events.
 */
export async function rebuildState(
  kafka: KafkaConnection,
  { partition, electionId }: { readonly partition: number; readonly electionId: string },
): Promise<RebuiltState> {
  const snapshots = new Map<string, Buffer>();
  await readUntilElected(kafka, 'wallet.state', { partition, electionId }, (record) => {
    if (record.value.length === 0) snapshots.delete(record.key);
    else snapshots.set(record.key, record.value);
  });
  const state = stateOfSnapshots(partition, snapshots.values());
  if (state !== undefined) return { state, source: 'snapshots' };
  return { state: await stateOfEvents(kafka, { partition, electionId }), source: 'events' };
}

/** The state by all events of the partition, their chains checked. */
export async function stateOfEvents(
  kafka: KafkaConnection,
  { partition, electionId }: { readonly partition: number; readonly electionId: string },
): Promise<LedgerState> {
  const state = new LedgerState(partition);
  for (const topic of ['team.events', 'wallet.events'] as const) {
    const fold = chainFold(state, topic);
    await readUntilElected(kafka, topic, { partition, electionId }, fold);
  }
  for (const _ of state.takeChanges());
  return state;
}

/** Folds a topic's events into the state after a look at their seals and at their place in the chain. */
function chainFold(state: LedgerState, topic: Topic): (record: ReadRecord) => void {
  const chains = new Map<number, { seq: number; hash: Buffer }>();
  return (record) => {
    const event = decodeRecord(record.value);
    if (event.name === 'LedgerOwnerElected') return;
    if (!isLedgerEvent(event))
      throw new BrokenChain(`A ${event.name} in ${topic} partition ${record.partition} at ${record.offset}`);
    const { team_id: teamId, seq, prev_hash: prevHash, hash } = event.value;
    const last = chains.get(teamId) ?? { seq: 0, hash: genesisHash };
    if (seq !== last.seq + 1 || !last.hash.equals(prevHash) || !isSealIntact(record.value)) {
      throw new BrokenChain(
        `The chain of team ${teamId} breaks in ${topic} partition ${record.partition} at offset ` +
          `${record.offset} (seq ${seq} after ${last.seq}). Run \`npm run audit -- verify\`.`,
      );
    }
    chains.set(teamId, { seq, hash });
    state.evolve(event);
  };
}

const ledgerEvents: ReadonlySet<string> = new Set<LedgerEvent['name']>([
  'WalletOpened',
  'BillingActivated',
  'BillingDeactivated',
  'WalletToppedUp',
  'WalletDebited',
  'WalletRefunded',
  'ChargeCaptured',
  'TeamCreated',
  'ApiKeyCreated',
  'ApiKeyRevoked',
  'WebhookSecretRotated',
]);

const isLedgerEvent = (event: { readonly name: string }): event is LedgerEvent =>
  ledgerEvents.has(event.name);

async function readUntilElected(
  kafka: KafkaConnection,
  topic: Topic,
  { partition, electionId }: { readonly partition: number; readonly electionId: string },
  onRecord: (record: ReadRecord) => void,
): Promise<void> {
  const fetcher = await LogFetcher.open(kafka, [topic]);
  try {
    let offset = (await fetcher.beginningOffsets(topic))[partition] ?? 0;
    let silentSince = performance.now();
    for (;;) {
      const [chunk] = await fetcher.fetch([{ topic, partition, offset }], { maxWaitMs: MAX_WAIT_MS });
      if (chunk === undefined || chunk.nextOffset === offset) {
        if (performance.now() - silentSince > SILENCE_LIMIT_MS)
          throw new KafkaUnavailable(`The election does not show up in ${topic} partition ${partition}`);
        await delay(1);
        continue;
      }
      silentSince = performance.now();
      offset = chunk.nextOffset;
      for (const record of chunk.records) {
        onRecord(record);
        if (record.key === electionKey && record.headers['ce_id'] === electionId) return;
      }
    }
  } finally {
    await fetcher.close();
  }
}
