import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ownLane } from '#api/ledger/lane-owner.ts';
import { partitionsOfLane } from '#api/ledger/lanes.ts';
import { runLedger } from '#api/ledger/ledger.ts';
import { LedgerClient } from '#api/ledger/ledger-client.ts';
import { OtherShape } from '#api/ledger/ledger-shape.ts';
import type { CommittedReply } from '#api/ledger/reply.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { CommandSource } from '../../faults/command-source.ts';
import { committedRecords, expectSoundLedger } from '../../faults/ledger-audit.ts';
import { until } from '../../stack/poll.ts';
import { tenantKafka } from '../kafka/kafka-fixture.ts';

const LIMIT_MS = 60_000;
const TEAMS = [1, 2, 3, 4, 5, 6];
const PARTITIONS = 3;

let kafka: KafkaConnection;
let client: LedgerClient;
let source: CommandSource;
let ledgers: { readonly stop: AbortController; readonly done: Promise<void> }[];

beforeEach(async () => {
  kafka = await tenantKafka();
  ledgers = [];
  client = await LedgerClient.connect({ kafka, log: kafka.log, signal: new AbortController().signal });
  await until('the replies can be heard', LIMIT_MS, () => client.ready() || undefined);
  source = new CommandSource(client, TEAMS, Math.random);
});

afterEach(async () => {
  await client.close();
  await Promise.all(ledgers.map(stopLedger));
});

function startLedger(lanes: number | undefined, onReplies?: (replies: readonly CommittedReply[]) => void) {
  const stop = new AbortController();
  const config = {
    KAFKA_TOPIC_PROFILE: 'embedded',
    ...(lanes === undefined ? {} : { LEDGER_LANES: lanes }),
  } as const;
  const options = { kafka, config, log: kafka.log, signal: stop.signal };
  const done = runLedger(onReplies === undefined ? options : { ...options, onReplies });
  done.catch(() => undefined);
  const ledger = { stop, done };
  ledgers.push(ledger);
  return ledger;
}

async function stopLedger({ stop, done }: (typeof ledgers)[number]): Promise<void> {
  stop.abort();
  await done.catch(() => undefined);
}

/** Who owns each partition now, by the newest election in it. */
async function owners(): Promise<readonly (string | undefined)[]> {
  const newest: (string | undefined)[] = Array.from({ length: PARTITIONS }, () => undefined);
  for (const record of await committedRecords(kafka, 'wallet.events'))
    if (record.name === 'LedgerOwnerElected') newest[record.value.partition] = record.value.owner_id;
  return newest;
}

async function decided(): Promise<number> {
  const records = await committedRecords(kafka, 'wallet.events');
  return records.filter(({ name }) => name !== 'LedgerOwnerElected').length;
}

async function ask(count: number): Promise<void> {
  const wanted = source.asked.size + count;
  const enough = new AbortController();
  const asking = source.run(5, enough.signal);
  await until(`${count} commands are asked`, LIMIT_MS, () => source.asked.size >= wanted || undefined);
  enough.abort();
  await asking;
}

describe('the lanes of the ledger', () => {
  test('are shared as wholes, and who is left has all of them', async () => {
    expect(new Set(TEAMS.map((team) => partitionOf(String(team), PARTITIONS)))).toEqual(new Set([0, 1, 2]));
    const one = startLedger(2);
    startLedger(2);
    await source.openTeams();
    const shared = await until('each instance owns a lane', LIMIT_MS, async () => {
      const [first, second, third] = await owners();
      return first === third && first !== second && second !== undefined ? { first, second } : undefined;
    });
    await ask(40);
    await stopLedger(one);
    await until('one instance owns all', LIMIT_MS, async () => {
      const now = new Set(await owners());
      return now.size === 1 && [shared.first, shared.second].some((owner) => now.has(owner))
        ? true
        : undefined;
    });
    await ask(20);
    await Promise.all(ledgers.map(stopLedger));
    await expectSoundLedger(kafka, source.asked);
  });

  test('cannot be of another number than the log began with', async () => {
    const first = startLedger(3);
    await source.openTeams();
    await stopLedger(first);
    await expect(startLedger(1).done).rejects.toThrow(/Set LEDGER_LANES to 3 or leave it out/);
    // Left out, the log's number holds, although the embedded profile begins new logs with one lane.
    const again = startLedger(undefined);
    await ask(10);
    await stopLedger(again);
    await expectSoundLedger(kafka, source.asked);
  });

  test('let nobody decide who took the log for a new one, and divides it otherwise', async () => {
    startLedger(1);
    await source.openTeams();
    const before = await decided();
    const other = { laneCount: 3, partitionCount: PARTITIONS, replyPartitionCount: PARTITIONS };
    const late = { kafka, log: kafka.log, ownerId: 'late', group: 'ledger', onReplies: () => undefined };
    const signal = AbortSignal.timeout(LIMIT_MS);
    for (const lane of [1, 2])
      await expect(
        ownLane(late, { ...other, lane, partitions: partitionsOfLane(lane, 3, PARTITIONS) }, signal),
      ).rejects.toThrow(OtherShape);
    expect(await decided()).toBe(before);
    // The rightful owner finds records in its partitions that it did not write, and takes over anew.
    await ask(10);
    await Promise.all(ledgers.map(stopLedger));
    await expectSoundLedger(kafka, source.asked);
  });

  test('tell in their process the very replies that are in the log', async () => {
    const told: CommittedReply[] = [];
    const ledger = startLedger(1, (replies) => {
      told.push(...replies);
      client.hear(replies);
    });
    await source.openTeams();
    await ask(30);
    await stopLedger(ledger);
    const logged = (await committedRecords(kafka, 'wallet.replies')).map(({ value, at }) => ({
      attemptId: at.headers['attempt_id'],
      reply: { ...value },
    }));
    expect(told.length).toBeGreaterThan(30);
    expect(JSON.parse(JSON.stringify(told))).toEqual(JSON.parse(JSON.stringify(logged)));
    await expectSoundLedger(kafka, source.asked);
  });
});
