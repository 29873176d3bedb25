import { randomUUID } from 'node:crypto';
import type { Command } from '#api/ledger/decision.ts';
import { runLedger } from '#api/ledger/ledger.ts';
import { LedgerClient } from '#api/ledger/ledger-client.ts';
import type { CommittedReply } from '#api/ledger/reply.ts';
import { parseConfig } from '#infra/config.ts';
import { connectKafka } from '#infra/kafka/connection.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import { type Contender, ITEM_CENTS, RICH_CENTS } from './contender.ts';

const COMMAND_DEADLINE_MS = 60_000;
const JOB_DEADLINE_MS = 7_200_000;
/** Kafka's Java compiles what it runs often, beside its work, and is done with most of it after this. */
const WARM_UP_SECONDS = 25;

/** A debit through the ledger as one API process runs it: command, transaction, reply, all through Kafka. */
export async function ledgerContender(kafkaBrokers: readonly string[], wallets: number): Promise<Contender> {
  const config = parseConfig({ KAFKA_BROKERS: kafkaBrokers.join(','), LOG_LEVEL: 'error' });
  const log = createLogger(config, 'bench');
  const kafka = connectKafka(config, { clientId: 'bench', log });
  await ensureTopics(kafka, config);
  const stop = new AbortController();
  const client = await LedgerClient.connect({ kafka, log, signal: stop.signal });
  const onReplies = (replies: readonly CommittedReply[]) => client.hear(replies);
  const ledger = runLedger({ kafka, config, log, signal: stop.signal, onReplies });
  while (!client.ready()) await new Promise((resolve) => setTimeout(resolve, 20));
  for (let teamId = 1; teamId <= wallets; teamId++) await openWallet(client, teamId);
  return {
    name: 'ledger',
    warmUpSeconds: WARM_UP_SECONDS,
    debit: async (teamId) => {
      const reply = await client.submit(requestJob(teamId));
      if (reply.outcome !== 'accepted') throw new Error(`A debit was refused: ${reply.refusal}`);
    },
    close: async () => {
      await client.close();
      stop.abort();
      await ledger;
    },
  };
}

async function openWallet(client: LedgerClient, teamId: number): Promise<void> {
  await client.submit({ name: 'CreateTeam', value: { ...envelope(teamId), name: `team ${teamId}` } });
  const value = { ...envelope(teamId), amount_cents: RICH_CENTS, reference: 'bench' };
  await Promise.all([
    client.submit({ name: 'ActivateBilling', value: envelope(teamId) }),
    client.submit({ name: 'TopUpWallet', value }),
  ]);
}

const envelope = (teamId: number) => ({
  command_id: randomUUID(),
  team_id: teamId,
  issued_at: Date.now(),
  deadline_at: Date.now() + COMMAND_DEADLINE_MS,
  actor: 'system:bench',
});

const requestJob = (teamId: number): Command => ({
  name: 'RequestJob',
  value: {
    ...envelope(teamId),
    job_id: randomUUID(),
    kind: 'clip',
    item_count: 1,
    item_cents: ITEM_CENTS,
    request_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    job_deadline_at: Date.now() + JOB_DEADLINE_MS,
    clip: plainClipOptions,
    face_swap: null,
    callback_url: null,
  },
});
