import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { readLog } from '#infra/kafka/log-reader.ts';
import { partitionOf } from '#infra/kafka/partitioner.ts';
import { balanceEffectCents, type WalletEvent } from '#schemas/wallet.ts';
import type { Fault } from './fault.ts';
import { LogVerifier } from './log-verifier.ts';

/** One event of a wallet, with the balance after it. Amounts are integers of cents. */
export type StatementLine = Readonly<{
  seq: number;
  occurred_at: string;
  event: string;
  /** The signed effect on the balance. */
  amount_cents: number;
  balance_cents: number;
  job_id: string | null;
  item: number | null;
  reference: string | null;
  reason: string | null;
  actor: string;
  event_id: string;
}>;

export type WalletStatement = Readonly<{
  team_id: number;
  as_of: string | null;
  active: boolean;
  balance_cents: number;
  topped_up_cents: number;
  /** Gross: refunds do not lower it. */
  debited_cents: number;
  refunded_cents: number;
  /** Of the debited: delivered, so that it cannot come back. */
  captured_cents: number;
  lines: readonly StatementLine[];
  /** The first event that is wrong, if one is: the lines end before it. */
  fault: Fault | null;
}>;

/**
 * Replays one wallet from Kafka alone, checking its chain on the way. With `asOfMs` it ends before the first
 * event that is later. Undefined when the team has no wallet (yet).
 */
export async function readStatement(
  kafka: KafkaConnection,
  wanted: { readonly teamId: number; readonly asOfMs: number | undefined; readonly signal: AbortSignal },
): Promise<WalletStatement | undefined> {
  const { teamId, asOfMs, signal } = wanted;
  const key = String(teamId);
  const partitionCount = await kafka.partitionCount('wallet.events');
  const verifier = new LogVerifier({ partitionCount });
  const partitions = [partitionOf(key, partitionCount)];
  const lines: StatementLine[] = [];
  const totals = { active: false, balance: 0, toppedUp: 0, debited: 0, refunded: 0, captured: 0 };
  reading: for await (const { records } of readLog(kafka, {
    topics: ['wallet.events'],
    partitions,
    signal,
  })) {
    for (const record of records) {
      if (record.key !== key) continue;
      const verified = verifier.accept(record);
      if (verifier.faults.length > 0) break reading;
      if (verified?.of !== 'wallet' || verified.team.replay.wallet.status === 'unopened') continue;
      if (asOfMs !== undefined && verified.event.value.occurred_at > asOfMs) break reading;
      const { wallet } = verified.team.replay;
      lines.push(statementLine(verified.event, wallet.balanceCents));
      Object.assign(totals, {
        active: wallet.active,
        balance: wallet.balanceCents,
        toppedUp: wallet.toppedUpCents,
        debited: wallet.debitedCents,
        refunded: wallet.refundedCents,
        captured: wallet.capturedCents,
      });
    }
  }
  const [fault] = verifier.faults;
  if (lines.length === 0 && fault === undefined) return undefined;
  return {
    team_id: teamId,
    as_of: asOfMs === undefined ? null : new Date(asOfMs).toISOString(),
    active: totals.active,
    balance_cents: totals.balance,
    topped_up_cents: totals.toppedUp,
    debited_cents: totals.debited,
    refunded_cents: totals.refunded,
    captured_cents: totals.captured,
    lines,
    fault: fault ?? null,
  };
}

function statementLine(event: WalletEvent, balanceCents: number): StatementLine {
  const { value } = event;
  return {
    seq: value.seq,
    occurred_at: new Date(value.occurred_at).toISOString(),
    event: event.name,
    amount_cents: balanceEffectCents(event),
    balance_cents: balanceCents,
    job_id: 'job_id' in value ? value.job_id : null,
    item: 'item' in value ? value.item : null,
    reference: 'reference' in value ? value.reference : null,
    reason: 'reason' in value ? value.reason : null,
    actor: value.actor,
    event_id: value.event_id,
  };
}
