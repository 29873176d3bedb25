import { afterAll, beforeAll, expect, test } from 'vitest';
import { runLedger } from '#api/ledger/ledger.ts';
import { LedgerClient } from '#api/ledger/ledger-client.ts';
import { parseConfig } from '#infra/config.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { until } from '../stack/poll.ts';
import { createTenant } from '../stack/tenant.ts';
import { CommandSource } from './command-source.ts';
import { faultSeconds, faultSeed } from './fault-budget.ts';
import { openFaultProxy } from './kafka-fault-proxy.ts';
import { expectSoundLedger } from './ledger-audit.ts';
import { RandomFaults, strikesWanted } from './random-faults.ts';
import { seededRandom } from './seeded-random.ts';

const REQUEST_TIMEOUT_MS = 700;

let kafka: KafkaConnection;
let env: Readonly<Record<string, string>>;
const stopped = new AbortController();

beforeAll(async () => {
  env = { ...(await createTenant()).env, LOG_LEVEL: 'error' };
  const config = parseConfig(env);
  kafka = connectKafka(config, { clientId: 'fault-test', log: createLogger(config, 'fault-test') });
  await ensureTopics(kafka, config);
});

afterAll(() => stopped.abort());

test(
  `cut, delayed and dropped requests of transactions lose and double nothing (seed ${faultSeed})`,
  async () => {
    const random = seededRandom(faultSeed);
    const faults = new RandomFaults(random, { chance: 0.03, requestTimeoutMs: REQUEST_TIMEOUT_MS });
    const config = parseConfig(env);
    const [host = '', port = ''] = (config.KAFKA_BROKERS?.[0] ?? '').split(':');
    const proxy = await openFaultProxy({ host, port: Number(port) }, (request) => faults.choose(request));
    const log = createLogger(config, 'ledger-under-faults');
    const throughProxy = connectKafka(config, {
      clientId: 'ledger-under-faults',
      log,
      routeTo: proxy.routeTo,
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
    });
    const ledgerStop = new AbortController();
    const ledger = runLedger({ kafka: throughProxy, config, log, signal: ledgerStop.signal });
    const client = await LedgerClient.connect({ kafka, log, signal: stopped.signal });
    await until('the replies can be heard', 30_000, () => client.ready() || undefined);

    const source = new CommandSource(client, [1, 2, 3, 4, 5, 6, 7], random);
    await source.openTeams();
    const sourceStop = new AbortController();
    const asking = source.run(20, sourceStop.signal);
    faults.begin();
    const endsAt = Date.now() + faultSeconds * 1_000;
    await until(
      'every request was struck, and the time is over',
      (faultSeconds + 120) * 1_000,
      () => (Date.now() > endsAt && faults.struck.size >= strikesWanted) || undefined,
    );
    faults.end();
    sourceStop.abort();
    await asking;
    await client.close();
    ledgerStop.abort();
    await ledger;
    await proxy.close();

    const { events, accepted } = await expectSoundLedger(kafka, source.asked);
    console.log(`seed ${faultSeed}: ${faults.count} faults, ${accepted} accepted commands, ${events} events`);
    expect(accepted).toBeGreaterThan(50);
  },
  (faultSeconds + 240) * 1_000,
);
