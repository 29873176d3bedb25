import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, test } from 'vitest';
import { LedgerClient } from '#api/ledger/ledger-client.ts';
import { parseConfig } from '#infra/config.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { until } from '../stack/poll.ts';
import { createTenant } from '../stack/tenant.ts';
import { CommandSource } from './command-source.ts';
import { faultSeconds, faultSeed } from './fault-budget.ts';
import { committedRecords, expectSoundLedger } from './ledger-audit.ts';
import { seededRandom } from './seeded-random.ts';

const processFile = fileURLToPath(new URL('./ledger-process.ts', import.meta.url));
const IN_FLIGHT = 10;

let env: Readonly<Record<string, string>>;
let kafka: KafkaConnection;
let client: LedgerClient;
let processes: ChildProcess[];

beforeAll(async () => {
  env = { ...(await createTenant()).env, LOG_LEVEL: 'error' };
});

beforeEach(async (context) => {
  // Each test has a log of its own, so that each is checked on its own.
  const config = parseConfig({
    ...env,
    KAFKA_TOPIC_PREFIX: `${env['KAFKA_TOPIC_PREFIX']}${context.task.id}-`,
  });
  kafka = connectKafka(config, { clientId: 'fencing-test', log: createLogger(config, 'fencing-test') });
  await ensureTopics(kafka, config);
  env = { ...env, KAFKA_TOPIC_PREFIX: config.KAFKA_TOPIC_PREFIX };
  processes = [];
  client = await LedgerClient.connect({ kafka, log: kafka.log, signal: new AbortController().signal });
  await until('the replies can be heard', 30_000, () => client.ready() || undefined);
});

afterEach(async () => {
  for (const process of processes) process.kill('SIGKILL');
  await client.close();
});

afterAll(() => {
  for (const process of processes) process.kill('SIGKILL');
});

test(`a ledger that was frozen and wakes can append nothing any more (seed ${faultSeed})`, async () => {
  const source = new CommandSource(client, [1, 2, 3, 4, 5], seededRandom(faultSeed));
  const frozen = startLedger();
  await source.openTeams();
  const stop = new AbortController();
  const asking = source.run(IN_FLIGHT, stop.signal);
  await answersGrow(source, 30);

  frozen.kill('SIGSTOP');
  const heir = startLedger();
  await answersGrow(source, 60);
  const electedBeforeWaking = await elections();
  frozen.kill('SIGCONT');
  await answersGrow(source, 60);
  await until('the woken ledger has been fenced, and has taken over in its turn', 60_000, async () =>
    (await elections()) > electedBeforeWaking ? true : undefined,
  );

  frozen.kill('SIGKILL');
  stop.abort();
  await asking;
  await stopLedger(heir);
  await expectSoundLedger(kafka, source.asked);
});

test(`two ledgers that fight for the same partitions never both append (seed ${faultSeed})`, async () => {
  const source = new CommandSource(client, [1, 2, 3, 4, 5], seededRandom(faultSeed));
  const fighting = [startLedger(), startLedger()];
  await source.openTeams();
  const stop = new AbortController();
  const asking = source.run(IN_FLIGHT, stop.signal);
  await delay((faultSeconds * 1_000) / 2);
  const wanted = 2 * (await kafka.partitionCount('wallet.events'));
  await until('they have taken every partition from each other', 60_000, async () =>
    (await elections()) > wanted ? true : undefined,
  );

  fighting[0]?.kill('SIGKILL');
  stop.abort();
  await asking;
  await Promise.all(fighting.map(stopLedger));
  await expectSoundLedger(kafka, source.asked);
});

test(`killed ledgers lose nothing (seed ${faultSeed})`, async () => {
  const random = seededRandom(faultSeed);
  const source = new CommandSource(client, [1, 2, 3, 4, 5], random);
  let ledger = startLedger();
  await source.openTeams();
  const stop = new AbortController();
  const asking = source.run(IN_FLIGHT, stop.signal);
  for (let kill = 0; kill < 3; kill++) {
    await answersGrow(source, 20 + Math.floor(random() * 30));
    ledger.kill('SIGKILL');
    ledger = startLedger();
  }
  await answersGrow(source, 20);

  stop.abort();
  await asking;
  await stopLedger(ledger);
  await expectSoundLedger(kafka, source.asked);
});

function startLedger(): ChildProcess {
  const started = spawn(process.execPath, [processFile], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  processes.push(started);
  return started;
}

async function stopLedger(ledger: ChildProcess): Promise<void> {
  if (ledger.exitCode !== null || ledger.signalCode !== null) return;
  ledger.kill('SIGTERM');
  await once(ledger, 'exit');
}

/** Waits until so many more commands have their answer. */
async function answersGrow(source: CommandSource, more: number): Promise<void> {
  const answered = () => [...source.asked.values()].filter(({ replies }) => replies.length > 0).length;
  const wanted = answered() + more;
  await until(`${more} more answers`, 60_000, () => (answered() >= wanted ? true : undefined));
}

async function elections(): Promise<number> {
  const records = await committedRecords(kafka, 'wallet.events');
  return records.filter(({ name }) => name === 'LedgerOwnerElected').length;
}
