import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { COMMAND_MEMORY_MS } from '#api/ledger/decision.ts';
import { type LedgerEvent, LedgerState, type StateEntry } from '#api/ledger/ledger-state.ts';
import { snapshotOf, stateOfSnapshots } from '#api/ledger/state-snapshots.ts';

const PARTITION = 1;
const STEP = 3;
const TEAM = 4;
const NOW_MS = 1_795_000_000_000;
const hash = Buffer.alloc(32, 9);

let seq = 0;
const envelope = (occurredAt = NOW_MS) => ({
  event_id: randomUUID(),
  team_id: TEAM,
  seq: ++seq,
  occurred_at: occurredAt,
  actor: 'system:test',
  command_id: randomUUID(),
  prev_hash: hash,
  hash,
});

const opened = (): LedgerEvent => ({ name: 'WalletOpened', value: envelope() });
const toppedUp = (occurredAt = NOW_MS): LedgerEvent => ({
  name: 'WalletToppedUp',
  value: { ...envelope(occurredAt), amount_cents: 500, balance_cents: 500, reference: randomUUID() },
});
const debited = (firstClipId: number, occurredAt = NOW_MS) => ({
  name: 'WalletDebited' as const,
  value: {
    ...envelope(occurredAt),
    amount_cents: 300,
    balance_cents: 200,
    job_id: randomUUID(),
    kind: 'clip',
    item_count: 2,
    item_cents: 150,
    first_clip_id: firstClipId,
    clip_id_step: STEP,
    request_hash: 'hash',
  },
});
const captured = (debitId: string, item: number): LedgerEvent => ({
  name: 'ChargeCaptured',
  value: {
    ...envelope(),
    amount_cents: 150,
    debit_id: debitId,
    job_id: randomUUID(),
    item,
    reason: 'delivered',
    cause_event_id: randomUUID(),
  },
});

function stateAfter(events: readonly LedgerEvent[]): LedgerState {
  const state = new LedgerState(PARTITION);
  for (const event of events) state.evolve(event);
  return state;
}

function snapshotsOf(state: LedgerState, entries: Iterable<StateEntry>): Map<string, Buffer> {
  const values = new Map<string, Buffer>();
  for (const entry of entries) {
    const { key, value } = snapshotOf(state, entry);
    if (value !== null) values.set(key, value);
  }
  return values;
}

describe('the ledger’s state', () => {
  test('goes through its snapshots and comes back the same', () => {
    const state = stateAfter([opened(), toppedUp(), debited(4), toppedUp(), debited(10)]);
    state.consumed(77);
    const values = snapshotsOf(state, state.entries());
    const back = stateOfSnapshots(PARTITION, values.values());
    expect(back).toBeDefined();
    if (back === undefined) return;
    expect(snapshotsOf(back, back.entries())).toEqual(values);
    expect(back.nextCommandOffset).toBe(77);
    expect(back.nextClipCounter).toBe(state.nextClipCounter);
  });

  test('says as changes exactly what its events touched', () => {
    const state = stateAfter([opened(), toppedUp()]);
    expect([...state.takeChanges()].map(({ kind }) => kind).toSorted()).toEqual([
      'command',
      'command',
      'team',
      'topUp',
    ]);
    expect([...state.takeChanges()]).toEqual([]);
  });

  test('is no state without the record of its partition', () => {
    const state = stateAfter([opened()]);
    const withoutPartition = [...state.entries()].filter(({ kind }) => kind !== 'partition');
    expect(stateOfSnapshots(PARTITION, snapshotsOf(state, withoutPartition).values())).toBeUndefined();
  });

  test('counts clip ids on from the highest that was given out', () => {
    const state = stateAfter([opened(), debited(PARTITION + 5 * STEP)]);
    expect(state.nextClipCounter).toBe(7);
  });
});

describe('forgetting', () => {
  const LATER_MS = NOW_MS + COMMAND_MEMORY_MS + 1;

  test('lets old commands go and keeps payment references for good', () => {
    const state = stateAfter([opened(), toppedUp(), toppedUp(LATER_MS)]);
    for (const _ of state.takeChanges());
    state.forget(LATER_MS);
    expect(state.commands.size).toBe(1);
    expect(state.topUps.size).toBe(2);
    const removed = [...state.takeChanges()].map((entry) => snapshotOf(state, entry));
    expect(removed.map(({ value }) => value)).toEqual([null, null]);
  });

  test('keeps a charge that is not settled, however old, and lets it go when it is', () => {
    const debit = debited(4);
    const state = stateAfter([opened(), debit]);
    state.forget(LATER_MS);
    expect(state.charges.size).toBe(1);
    state.evolve(captured(debit.value.event_id, 0));
    expect(state.charges.size).toBe(1);
    state.evolve(captured(debit.value.event_id, 1));
    expect(state.charges.size).toBe(0);
    expect([...state.takeChanges()].map((entry) => snapshotOf(state, entry).key)).toContain(
      `charge/${debit.value.event_id}`,
    );
  });

  test('keeps a settled charge as long as its command can come again', () => {
    const debit = debited(4);
    const state = stateAfter([
      opened(),
      debit,
      captured(debit.value.event_id, 0),
      captured(debit.value.event_id, 1),
    ]);
    state.forget(NOW_MS + COMMAND_MEMORY_MS);
    expect(state.charges.size).toBe(1);
    state.forget(LATER_MS);
    expect(state.charges.size).toBe(0);
  });
});
