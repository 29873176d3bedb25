import { setTimeout as delay } from 'node:timers/promises';
import { Counter } from 'prom-client';
import type { BatchControl, RecordBatch } from '#infra/kafka/group-consumer.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import type { Logger } from '#infra/log.ts';
import { metrics } from '#infra/metrics.ts';
import { type AnyRecord, decodeRecord } from '#schemas/codec.ts';
import { cancelledCode } from '#schemas/failure-codes.ts';
import { derivedUuid } from '#schemas/ids.ts';
import { SWAP_ITEM } from '#schemas/job.ts';
import type { CommandReply, RecordTypes } from '#schemas/records.ts';
import { commandEnvelope } from '../command-envelope.ts';
import type { Command } from '../ledger/decision.ts';
import { type LedgerClient, LedgerUnavailable } from '../ledger/ledger-client.ts';

/**
 * Tells the ledger how each clip and face swap ended: a finished one is earned, a failed one is given back. The
 * ledger lets the first word about an item count, so saying it again, from anywhere, changes nothing.
 */

export type Settlement = Readonly<{
  ledger: Pick<LedgerClient, 'submit'>;
  /** Off: failed clips are paid for, and settled as `waived`; called off by the client, they never are. */
  refundFailedClips: 'on' | 'off';
  log: Logger;
  now: () => Date;
}>;

type TerminalEvent =
  | Readonly<{ name: 'ClipCompleted'; value: RecordTypes['ClipCompleted'] }>
  | Readonly<{ name: 'ClipFailed'; value: RecordTypes['ClipFailed'] }>
  | Readonly<{ name: 'SwapCompleted'; value: RecordTypes['SwapCompleted'] }>
  | Readonly<{ name: 'SwapFailed'; value: RecordTypes['SwapFailed'] }>;

const JOBS_AT_ONCE = 100;
const RETRY_MS = { first: 200, most: 5_000 };

const refused = new Counter({
  name: 'clipledger_settlement_refused_total',
  help: 'Items that the ledger refused to settle, by reason; each needs a person to look at it.',
  labelNames: ['refusal'],
  registers: [metrics],
});

/** A job event cannot be read. What comes after it waits: leaving it out could keep a client's money. */
export class UnsettleableRecord extends Error {
  override readonly name = 'UnsettleableRecord';

  constructor({ topic, partition, offset }: ReadRecord, cause: unknown) {
    super(
      `${topic}/${partition} offset ${offset} cannot be settled. If a newer version wrote it, run that version here.`,
      { cause },
    );
  }
}

/**
 * Settles every terminal event of a batch and resolves once the ledger has answered all of them. Jobs go side
 * by side; the events of one job go in the log's order, because the first outcome of an item wins. Rejects
 * when the partition is taken away meanwhile, and, after what goes before it, at a record it cannot read.
 */
export async function settleBatch(
  batch: Pick<RecordBatch, 'records'>,
  control: Pick<BatchControl, 'signal'>,
  settlement: Settlement,
): Promise<void> {
  const { events, unreadable } = terminalEvents(batch.records);
  const jobs = [...Map.groupBy(events, ({ value }) => value.job_id).values()].values();
  const takeJobs = async () => {
    for (const job of jobs) for (const event of job) await settle(event, control.signal, settlement);
  };
  // All takers draw from the one iterator, so each job is settled by one of them.
  await Promise.all(Array.from({ length: JOBS_AT_ONCE }, takeJobs));
  if (unreadable === undefined) return;
  settlement.log.error({ err: unreadable }, 'Settlement of a partition stands still at a record.');
  throw unreadable;
}

function terminalEvents(records: readonly ReadRecord[]) {
  const events: TerminalEvent[] = [];
  for (const record of records) {
    try {
      const event = decodeRecord(record.value);
      if (isTerminal(event)) events.push(event);
    } catch (cause) {
      return { events, unreadable: new UnsettleableRecord(record, cause) };
    }
  }
  return { events, unreadable: undefined };
}

function isTerminal(event: AnyRecord): event is TerminalEvent {
  switch (event.name) {
    case 'ClipCompleted':
    case 'ClipFailed':
    case 'SwapCompleted':
    case 'SwapFailed':
      return true;
    default:
      return false;
  }
}

/** The item of its charge that an event settles. */
function itemOf(event: TerminalEvent): number {
  return 'item' in event.value ? event.value.item : SWAP_ITEM;
}

/** Tries until the ledger answers: a refund must not be lost to an outage, however long. */
async function settle(event: TerminalEvent, signal: AbortSignal, settlement: Settlement): Promise<void> {
  for (let waitMs = RETRY_MS.first; ; waitMs = Math.min(waitMs * 2, RETRY_MS.most)) {
    signal.throwIfAborted();
    try {
      const reply = await settlement.ledger.submit(settleCommand(event, settlement));
      if (reply.refusal !== 'DeadlinePassed') return noteRefusal(reply, event, settlement.log);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable)) throw error;
      settlement.log.warn({ err: error, jobId: event.value.job_id }, 'A settlement waits for the ledger.');
    }
    await delay(waitMs, undefined, { signal });
  }
}

/** The id follows from what is settled and how, so a repeated event is a repeated command. */
export function settleCommand(event: TerminalEvent, settlement: Settlement): Command {
  const { debit_id: debitId, job_id: jobId, team_id: teamId, event_id: causeEventId } = event.value;
  const item = itemOf(event);
  const { outcome, reason } = outcomeOf(event, settlement.refundFailedClips);
  const commandId = derivedUuid(debitId, `settle:${item}:${outcome}`);
  const envelope = commandEnvelope({ teamId, actor: 'system:settlement', now: settlement.now(), commandId });
  return {
    name: 'SettleChargeItem',
    value: {
      ...envelope,
      debit_id: debitId,
      job_id: jobId,
      item,
      outcome,
      reason,
      cause_event_id: causeEventId,
    },
  };
}

function outcomeOf(event: TerminalEvent, refundFailedClips: Settlement['refundFailedClips']) {
  switch (event.name) {
    case 'ClipCompleted':
    case 'SwapCompleted':
      return { outcome: 'completed', reason: 'delivered' };
    case 'SwapFailed':
      return { outcome: 'failed', reason: event.value.error };
    case 'ClipFailed':
      return refundFailedClips === 'on' || event.value.code === cancelledCode
        ? { outcome: 'failed', reason: event.value.error }
        : { outcome: 'waived', reason: 'waived' };
  }
}

/** A charge that the ledger no longer knows was settled long ago; anything else should not happen. */
function noteRefusal(reply: CommandReply, event: TerminalEvent, log: Logger): void {
  if (reply.refusal === null) return;
  refused.inc({ refusal: reply.refusal });
  const { job_id: jobId, debit_id: debitId } = event.value;
  log.warn(
    { jobId, item: itemOf(event), debitId, refusal: reply.refusal },
    'The ledger refused to settle an item.',
  );
}
