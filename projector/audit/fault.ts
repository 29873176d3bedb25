import type { ReadRecord } from '#infra/kafka/record.ts';

/** Where an event is in the log, and which one it is. */
export type EventPlace = Readonly<{
  topic: string;
  partition: number;
  offset: number;
  eventId: string | null;
}>;

export type FaultKind =
  /** The bytes are no event of ours. */
  | 'unreadable'
  /** The event is in a topic, partition or under a key where it does not belong. */
  | 'misplaced'
  /** The event's bytes are not those that were sealed. */
  | 'altered'
  /** An event before this one is missing. */
  | 'gap'
  /** The event's place in the chain was taken already. */
  | 'repeated'
  /** The event does not follow from the one before it. */
  | 'unchained'
  /** The event says another balance or amount than the events before it give. */
  | 'misstated'
  /** The wallet would hold less than nothing. */
  | 'negative'
  /** The event breaks a rule of the ledger, such as one refund per charged item. */
  | 'unlawful'
  /** A charge without its job, or a job without its charge. */
  | 'unpaired'
  /** A row in Postgres is not what the log gives. */
  | 'row';

/** One thing that is wrong: where, what, and what to do. */
export type Fault = EventPlace &
  Readonly<{ kind: FaultKind; teamId: number | null; problem: string; remedy: string }>;

const changedLog =
  'The log was changed after it was written, or something else than the ledger wrote to it. Keep it as it is, ' +
  'compare it with a backup or mirror, and look at who may write to the topic.';
const brokenRule =
  'The ledger does not write this: look for another writer to the topic. Put the money right with a ' +
  'compensating event, never by changing the log.';

const remedies: Readonly<Record<FaultKind, string>> = {
  unreadable: `If a newer version wrote it, run the audit of that version. Otherwise: ${changedLog}`,
  misplaced: changedLog,
  altered: changedLog,
  gap: changedLog,
  repeated: changedLog,
  unchained: changedLog,
  misstated: brokenRule,
  negative: brokenRule,
  unlawful: brokenRule,
  unpaired: brokenRule,
  row:
    'The log decides: make the rows anew with `npm run admin -- rebuild`, and look for who writes to the ' +
    'database beside the projector.',
};

/** The fault of an event at a known place. */
export function faultAt(place: EventPlace, kind: FaultKind, teamId: number | null, problem: string): Fault {
  const { topic, partition, offset, eventId } = place;
  return { topic, partition, offset, eventId, kind, teamId, problem, remedy: remedies[kind] };
}

export const placeOf = (record: ReadRecord, eventId: string | null): EventPlace => ({
  topic: record.topic,
  partition: record.partition,
  offset: record.offset,
  eventId,
});

/** The fault as it stands in JSON, in the spelling of all our JSON. */
export const faultJson = ({ eventId, teamId, ...fault }: Fault) => ({
  ...fault,
  event_id: eventId,
  team_id: teamId,
});

/** The fault as lines for people. */
export function faultLines(fault: Fault): readonly string[] {
  const event = fault.eventId === null ? '' : ` (event ${fault.eventId})`;
  return [
    `${fault.topic}/${fault.partition} offset ${fault.offset}${event}: ${fault.problem}`,
    `  ${fault.remedy}`,
  ];
}
