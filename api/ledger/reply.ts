import type { RecordTypes } from '#schemas/records.ts';
import type { Decision } from './decision.ts';

/**
 * Comes with a command and goes with its reply. One command id can be submitted twice at once, even for two
 * requests of which the ledger refuses one: each submitter must hear the answer to its own.
 */
export const attemptIdHeader = 'attempt_id';

/** A reply that is in the log for good, and which submission of its command it answers; undefined: any. */
export type CommittedReply = Readonly<{ attemptId: string | undefined; reply: RecordTypes['CommandReply'] }>;

/** A CommandReply that does not name the positions of its events yet. */
export type Reply = Omit<RecordTypes['CommandReply'], 'positions'>;

/** What the ledger answers to a command it has decided on. */
export function replyOf(
  command: { readonly command_id: string; readonly team_id: number },
  decision: Decision,
  nowMs: number,
): Reply {
  const isAccepted = decision.outcome === 'accepted';
  const answer = isAccepted ? decision.answer : {};
  return {
    command_id: command.command_id,
    team_id: command.team_id,
    decided_at: nowMs,
    outcome: decision.outcome,
    replayed: isAccepted && decision.replayed,
    refusal: isAccepted ? null : decision.refusal,
    required_cents: isAccepted ? null : (decision.requiredCents ?? null),
    balance_cents: (isAccepted ? answer.balance_cents : decision.balanceCents) ?? null,
    event_id: answer.event_id ?? null,
    job_id: answer.job_id ?? null,
    debit_id: answer.debit_id ?? null,
    first_clip_id: answer.first_clip_id ?? null,
    clip_id_step: answer.clip_id_step ?? null,
    item_count: answer.item_count ?? null,
    amount_cents: answer.amount_cents ?? null,
    key_id: answer.key_id ?? null,
  };
}
