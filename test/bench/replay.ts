import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseConfig } from '#infra/config.ts';
import { ensureJavaLibraries } from '#infra/embedded/java-libraries.ts';
import type { EmbeddedStack } from '#infra/embedded/stack.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import type { RecordToAppend } from '#infra/kafka/record.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { genesisHash, isSealIntact, sealEvent } from '#schemas/chain.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { decodeRecord } from '#schemas/codec.ts';
import { evolveWallet, unopenedWallet, type Wallet, type WalletEvent } from '#schemas/wallet.ts';

const TEAMS = 500;
const PASSES = 3;
const APPEND_EVENTS = 500;
const JAVA_LIMIT_MS = 300_000;

/** Reads, decodes, checks and folds a topic of wallet events, beside a Java consumer that only reads it. */
export async function benchReplay(
  stack: EmbeddedStack,
  { events }: { readonly events: number },
): Promise<void> {
  const config = parseConfig({ KAFKA_BROKERS: stack.kafkaBrokers.join(','), LOG_LEVEL: 'error' });
  const kafka = connectKafka(config, { clientId: 'bench', log: createLogger(config, 'bench') });
  await ensureTopics(kafka, config);
  const bytes = await fillWalletEvents(kafka, events);
  console.log(
    `${events} wallet events of ${TEAMS} teams, ${Math.round(bytes / events)} bytes each, best of ${PASSES}:`,
  );
  const read = await best(() => passOverLog(kafka, () => undefined));
  const verified = await best(() => passOverLog(kafka, verifier()));
  const java = await javaEventsPerSecond(stack, kafka.topicName('wallet.events'));
  for (const [what, rate] of [
    ['read', read],
    ['read, decoded, chain checked, folded', verified],
    ['Java consumer, read only', java],
  ] as const)
    console.log(`${what.padEnd(38)}${rate === undefined ? 'not measured' : `${Math.round(rate)} events/s`}`);
  if (java !== undefined)
    console.log(`verified: ${(verified / java).toFixed(2)} of the Java consumer's speed`);
}

/** Wallets that are topped up again and again, in chains as the ledger writes them. */
async function fillWalletEvents(kafka: KafkaConnection, events: number): Promise<number> {
  const appender = await openAppender(kafka, { log: kafka.log });
  const wallets = new Map<number, Wallet>();
  let bytes = 0;
  for (let written = 0; written < events; written += APPEND_EVENTS) {
    const count = Math.min(APPEND_EVENTS, events - written);
    const records = Array.from({ length: count }, (_, index) =>
      nextEvent(wallets, 1 + ((written + index) % TEAMS)),
    );
    for (const { value } of records) bytes += value?.length ?? 0;
    await appender.append(records);
  }
  await appender.close();
  return bytes;
}

function nextEvent(wallets: Map<number, Wallet>, teamId: number): RecordToAppend {
  const wallet = wallets.get(teamId) ?? unopenedWallet;
  const envelope = {
    event_id: randomUUID(),
    team_id: teamId,
    seq: wallet.status === 'open' ? wallet.seq + 1 : 1,
    occurred_at: Date.now(),
    actor: 'system:bench',
    command_id: randomUUID(),
    prev_hash: wallet.status === 'open' ? wallet.hash : genesisHash,
  };
  const money = { amount_cents: 500, reference: envelope.command_id };
  const name = wallet.status === 'open' ? 'WalletToppedUp' : 'WalletOpened';
  const { event, bytes } =
    wallet.status === 'open'
      ? sealEvent('WalletToppedUp', { ...envelope, ...money, balance_cents: wallet.balanceCents + 500 })
      : sealEvent('WalletOpened', envelope);
  wallets.set(teamId, evolveWallet(wallet, { name, value: event } as WalletEvent));
  const headers = cloudEventHeaders({
    id: envelope.event_id,
    type: name,
    source: 'bench',
    timeMs: envelope.occurred_at,
    subject: `team/${teamId}`,
  });
  return { topic: 'wallet.events', key: String(teamId), value: bytes, headers };
}

/** What the audit does with each event: decode, seal, place in the chain, fold. */
function verifier(): (value: Buffer) => void {
  const wallets = new Map<number, Wallet>();
  return (value) => {
    const event = decodeRecord(value) as WalletEvent;
    const before = wallets.get(event.value.team_id) ?? unopenedWallet;
    const { seq, hash } = before.status === 'open' ? before : { seq: 0, hash: genesisHash };
    if (event.value.seq !== seq + 1 || !event.value.prev_hash.equals(hash) || !isSealIntact(value))
      throw new Error(`The chain of team ${event.value.team_id} breaks at seq ${event.value.seq}.`);
    wallets.set(event.value.team_id, evolveWallet(before, event));
  };
}

async function passOverLog(kafka: KafkaConnection, onValue: (value: Buffer) => void): Promise<number> {
  const startedAt = performance.now();
  let events = 0;
  for await (const { records } of readLog(kafka, { topics: ['wallet.events'] })) {
    for (const { value } of records) onValue(value);
    events += records.length;
  }
  return events / ((performance.now() - startedAt) / 1_000);
}

async function best(pass: () => Promise<number>): Promise<number> {
  let highest = 0;
  for (let index = 0; index < PASSES; index++) highest = Math.max(highest, await pass());
  return highest;
}

/** Undefined, with the reason on stderr, where no JDK is there to compile the consumer. */
async function javaEventsPerSecond(stack: EmbeddedStack, topic: string): Promise<number | undefined> {
  const source = fileURLToPath(new URL('ReplaySpeed.java', import.meta.url));
  const librariesDir = join(import.meta.dirname, '..', '..', '.data', 'lib');
  const { kafkaClassPath } = await ensureJavaLibraries(librariesDir, {
    onProgress: (message) => console.error(message),
  });
  const run = ['-cp', kafkaClassPath, source, stack.kafkaBrokers[0] ?? '', topic, String(PASSES)];
  try {
    const { stdout } = await promisify(execFile)('java', run, { timeout: JAVA_LIMIT_MS });
    return Math.max(...stdout.trim().split('\n').map(Number));
  } catch (error) {
    console.error(
      `The Java consumer did not run (it needs a JDK): ${(error as Error).message.slice(0, 500)}`,
    );
    return undefined;
  }
}
