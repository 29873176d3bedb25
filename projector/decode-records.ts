import type { ReadRecord } from '#infra/kafka/record.ts';
import { type AnyRecord, decodeRecord, type Named } from '#schemas/codec.ts';
import type { TeamRecords } from '#schemas/records.ts';
import type { WalletEvent } from '#schemas/wallet.ts';
import type { JobProgressed } from './job/job-rows.ts';
import type { JobEntry } from './job/project-job-events.ts';

/** Events by what they are about, each list in the order of the partitions. */
export type ProjectedEvents = Readonly<{
  teamEvents: readonly Named<TeamRecords>[];
  walletEvents: readonly WalletEvent[];
  jobEvents: readonly JobEntry[];
  progress: readonly JobProgressed[];
}>;

/** A record cannot be read. Nothing after it becomes rows: leaving out an event could hide money. */
export class RecordNotProjectable extends Error {
  override readonly name = 'RecordNotProjectable';

  constructor(record: ReadRecord, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `${record.topic}/${record.partition} offset ${record.offset} cannot become rows: ${reason} ` +
        'If a newer version wrote it, run that version here.',
      { cause },
    );
  }
}

export type DecodedRecords = Readonly<{
  events: ProjectedEvents;
  /** The first record that cannot be read; `events` are those before it. */
  unreadable: Readonly<{ offset: number; error: RecordNotProjectable }> | undefined;
}>;

/** The events of `records`, up to the first one that cannot be read. */
export function decodeRecords(records: readonly ReadRecord[]): DecodedRecords {
  const events = noEvents();
  for (const record of records) {
    try {
      sortEvent(decodeRecord(record.value), events);
    } catch (cause) {
      return {
        events,
        unreadable: { offset: record.offset, error: new RecordNotProjectable(record, cause) },
      };
    }
  }
  return { events, unreadable: undefined };
}

/** All events of several partitions. */
export function joinEvents(parts: readonly ProjectedEvents[]): ProjectedEvents {
  return {
    teamEvents: parts.flatMap(({ teamEvents }) => teamEvents),
    walletEvents: parts.flatMap(({ walletEvents }) => walletEvents),
    jobEvents: parts.flatMap(({ jobEvents }) => jobEvents),
    progress: parts.flatMap(({ progress }) => progress),
  };
}

type Mutable<Lists> = { [Name in keyof Lists]: Lists[Name] extends readonly (infer Item)[] ? Item[] : never };

const noEvents = (): Mutable<ProjectedEvents> => ({
  teamEvents: [],
  walletEvents: [],
  jobEvents: [],
  progress: [],
});

/** Records that are no part of the read model, such as a ledger's election, are passed over. */
function sortEvent(record: AnyRecord, events: Mutable<ProjectedEvents>): void {
  switch (record.name) {
    case 'TeamCreated':
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked':
    case 'WebhookSecretRotated':
      events.teamEvents.push(record);
      return;
    case 'WalletOpened':
    case 'BillingActivated':
    case 'BillingDeactivated':
    case 'WalletToppedUp':
    case 'WalletDebited':
    case 'WalletRefunded':
    case 'ChargeCaptured':
      events.walletEvents.push(record);
      return;
    case 'JobRequested':
      events.jobEvents.push({ created: record.value });
      return;
    case 'ClipCompleted':
    case 'ClipFailed':
    case 'SwapCompleted':
    case 'SwapFailed':
      events.jobEvents.push({ event: record });
      return;
    case 'JobProgressed':
      events.progress.push(record.value);
      return;
    default:
      return;
  }
}
