import type { Appender } from '#infra/kafka/appender.ts';
import type { LogPosition, RecordToAppend } from '#infra/kafka/record.ts';
import { cloudEventHeaders } from '#schemas/cloud-event-headers.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { cancelledCode } from '#schemas/failure-codes.ts';
import { derivedUuid } from '#schemas/ids.ts';

/**
 * Ends items of jobs from the API's side, also when no worker is left to say so. The ids are derived and the
 * first terminal event of an item counts: saying it twice, through two instances, or after the item was
 * finished all the same, changes nothing.
 */

/** One item of a charge that was open when it was looked at. */
export type OpenItem = Readonly<{
  jobId: string;
  teamId: number;
  debitId: string;
  item: number;
  /** Null for a face swap, which is the one item of its job. */
  clipId: number | null;
}>;

/** Why the API ends an item: who says so, the event's closed code, and a sentence for the client by kind. */
export type EndReason = Readonly<{
  word: 'deadline' | 'cancel';
  code: string;
  clipError: string;
  swapError: string;
}>;

export const pastDeadline: EndReason = {
  word: 'deadline',
  code: 'DEADLINE',
  clipError: 'The clip was not finished within the time limit of its job.',
  swapError: 'The face swap was not finished within its time limit.',
};

export const cancelled: EndReason = {
  word: 'cancel',
  code: cancelledCode,
  clipError: 'The job was cancelled.',
  swapError: 'The job was cancelled.',
};

/** The id of the one event by which the API can end an item for this reason. */
export const failureEventId = (
  { jobId, item }: Pick<OpenItem, 'jobId' | 'item'>,
  { word }: EndReason,
): string => derivedUuid(jobId, `${word}:${item}`);

/** Appends a failure for each of `items`, and says where. Rejects with `KafkaUnavailable`. */
export function failItems(
  items: readonly OpenItem[],
  reason: EndReason,
  by: { readonly appender: Pick<Appender, 'append'>; readonly now: () => Date },
): Promise<readonly LogPosition[]> {
  const atMs = by.now().getTime();
  return by.appender.append(items.map((item) => failureRecord(item, reason, atMs)));
}

function failureRecord(item: OpenItem, reason: EndReason, atMs: number): RecordToAppend {
  const id = failureEventId(item, reason);
  const { type, value } = failure(item, reason, { id, atMs });
  return {
    topic: 'job.events',
    key: item.jobId,
    value,
    headers: cloudEventHeaders({ id, type, source: reason.word, timeMs: atMs, subject: item.jobId }),
  };
}

function failure(item: OpenItem, reason: EndReason, { id, atMs }: { id: string; atMs: number }) {
  const common = {
    event_id: id,
    job_id: item.jobId,
    team_id: item.teamId,
    debit_id: item.debitId,
    occurred_at: atMs,
    code: reason.code,
  };
  if (item.clipId === null)
    return {
      type: 'SwapFailed',
      value: encodeRecord('SwapFailed', { ...common, error: reason.swapError }),
    } as const;
  const clip = { ...common, item: item.item, clip_id: item.clipId, error: reason.clipError };
  return { type: 'ClipFailed', value: encodeRecord('ClipFailed', clip) } as const;
}
