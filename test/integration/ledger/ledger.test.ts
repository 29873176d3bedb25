import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Command } from '#api/ledger/decision.ts';
import { runLedger } from '#api/ledger/ledger.ts';
import { LedgerClient, LedgerUnavailable } from '#api/ledger/ledger-client.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import type { CommandRecords } from '#schemas/records.ts';
import { CommandSource } from '../../faults/command-source.ts';
import { committedRecords, expectSoundLedger } from '../../faults/ledger-audit.ts';
import { until } from '../../stack/poll.ts';
import { tenantKafka } from '../kafka/kafka-fixture.ts';

const LIMIT_MS = 60_000;
const TEAM = 7;

let kafka: KafkaConnection;
let client: LedgerClient;
let ledgers: { readonly stop: AbortController; readonly done: Promise<void> }[];

beforeEach(async () => {
  kafka = await tenantKafka();
  ledgers = [];
  client = await LedgerClient.connect({ kafka, log: kafka.log, signal: new AbortController().signal });
  await until('the replies can be heard', LIMIT_MS, () => client.ready() || undefined);
});

afterEach(async () => {
  await client.close();
  await stopLedgers();
});

function startLedger() {
  const stop = new AbortController();
  const config = { KAFKA_TOPIC_PROFILE: 'embedded' } as const;
  const done = runLedger({ kafka, config, log: kafka.log, signal: stop.signal });
  done.catch(() => undefined);
  ledgers.push({ stop, done });
  return done;
}

async function stopLedgers(): Promise<void> {
  for (const { stop } of ledgers) stop.abort();
  await Promise.allSettled(ledgers.map(({ done }) => done));
  ledgers = [];
}

type Own<Name extends keyof CommandRecords> = Omit<
  CommandRecords[Name],
  'command_id' | 'team_id' | 'issued_at' | 'deadline_at' | 'actor'
>;

function command<Name extends keyof CommandRecords>(
  name: Name,
  own: Own<Name>,
  envelope: { readonly command_id?: string; readonly deadline_at?: number } = {},
): Command {
  const issuedAt = Date.now();
  const common = { command_id: randomUUID(), team_id: TEAM, issued_at: issuedAt, actor: 'system:test' };
  return {
    name,
    value: { ...common, deadline_at: issuedAt + LIMIT_MS, ...envelope, ...own },
  } as unknown as Command;
}

async function openTeam(cents: number): Promise<void> {
  await client.submit(command('CreateTeam', { name: 'the team' }));
  await client.submit(command('ActivateBilling', {}));
  await client.submit(command('TopUpWallet', { amount_cents: cents, reference: 'first' }));
}

/** Lets the source go on until it has asked so much, and waits for the answers. */
async function askUntil(source: CommandSource, asked: number): Promise<void> {
  const enough = new AbortController();
  const asking = source.run(5, enough.signal);
  await until(`${asked} commands are asked`, LIMIT_MS, () => source.asked.size > asked || undefined);
  enough.abort();
  await asking;
}

const job = (commandId?: string) =>
  command(
    'RequestJob',
    {
      job_id: randomUUID(),
      kind: 'clip',
      item_count: 2,
      item_cents: 150,
      request_hash: 'hash',
      job_deadline_at: Date.now() + LIMIT_MS,
      clip: null,
      face_swap: null,
      callback_url: null,
    },
    commandId === undefined ? {} : { command_id: commandId },
  );

describe('the ledger', () => {
  test('charges exactly what a wallet affords when many ask at once', async () => {
    void startLedger();
    await openTeam(20 * 300 + 299);
    const replies = await Promise.all(Array.from({ length: 60 }, () => client.submit(job())));
    expect(replies.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(20);
    const refused = replies.filter(({ outcome }) => outcome === 'refused');
    expect(new Set(refused.map(({ refusal }) => refusal))).toEqual(new Set(['InsufficientBalance']));
    expect(refused[0]).toMatchObject({ required_cents: 300, balance_cents: 299 });
    const debits = (await committedRecords(kafka, 'wallet.events')).filter(
      ({ name }) => name === 'WalletDebited',
    );
    expect(debits).toHaveLength(20);
  });

  test('answers a repeated command with its first answer, also at the same moment and after a restart', async () => {
    void startLedger();
    await openTeam(10_000);
    const repeated = job(randomUUID());
    const together = await Promise.all([client.submit(repeated), client.submit(repeated)]);
    await stopLedgers();
    void startLedger();
    const later = await client.submit(repeated);
    const debitIds = new Set([...together, later].map(({ debit_id }) => debit_id));
    expect(debitIds.size).toBe(1);
    expect(later.replayed).toBe(true);
    expect(later.balance_cents).toBe(9_700);
  });

  test('skips what is no command, and answers when the headers say who asked', async () => {
    void startLedger();
    await openTeam(1_000);
    const appender = await openAppender(kafka, { log: kafka.log });
    const asked = randomUUID();
    await appender.append([
      {
        topic: 'wallet.commands',
        key: String(TEAM),
        value: Buffer.from('poison'),
        headers: { ce_id: asked },
      },
      { topic: 'wallet.commands', key: String(TEAM), value: null },
    ]);
    await appender.close();
    expect((await client.submit(job())).outcome).toBe('accepted');
    const replies = await committedRecords(kafka, 'wallet.replies');
    const reply = replies.find(({ value }) => 'command_id' in value && value.command_id === asked);
    expect(reply?.value).toMatchObject({ outcome: 'refused', refusal: 'InvalidCommand', team_id: TEAM });
  });

  test('refuses a command that comes to it after its deadline, and charges nothing', async () => {
    const late = { ...job(), value: { ...job().value, deadline_at: Date.now() - 1 } } as Command;
    void startLedger();
    await openTeam(1_000);
    const reply = await client.submit(late);
    expect(reply).toMatchObject({ outcome: 'refused', refusal: 'DeadlinePassed' });
  });

  test('is rebuilt from the events alone when wallet.state is gone, to the same state', async () => {
    void startLedger();
    const source = new CommandSource(client, [1, 2, 3, 4], Math.random);
    await source.openTeams();
    await askUntil(source, 60);
    await stopLedgers();
    await kafka.admin(async (admin) => {
      const topic = kafka.topicName('wallet.state');
      await admin.deleteTopics({ topics: [topic] });
      await until('the topic is made anew', LIMIT_MS, async () => {
        await admin.createTopics({ topics: [{ topic, numPartitions: 3, replicationFactor: 1 }] });
        return true;
      });
    });
    void startLedger();
    await askUntil(source, 90);
    await stopLedgers();
    // Compares wallet.state, which was written anew, with the events, field by field.
    await expectSoundLedger(kafka, source.asked);
  });
});

describe('the ledger client', () => {
  test('says that the outcome is unknown when nobody decides', async () => {
    const unheard = command('ActivateBilling', {}, { deadline_at: Date.now() + 200 });
    await expect(client.submit(unheard)).rejects.toThrow(LedgerUnavailable);
  });

  test('leaves no consumer group behind', async () => {
    await client.close();
    const groups = await kafka.admin((admin) => admin.listGroups());
    const own = groups.groups.filter(({ groupId }) => groupId.startsWith(kafka.scopedName('ledger-replies')));
    expect(own).toEqual([]);
  });
});
