import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '#infra/config.ts';
import type { KafkaConnection } from '#infra/kafka/connection.ts';
import { KafkaFailure, reasonOf } from '#infra/kafka/kafka-failure.ts';
import type { Logger } from '#infra/log.ts';
import type { LedgerOwnerElected } from '#schemas/records.ts';
import type { Topic } from '#schemas/topics.ts';
import { firstElections } from './election.ts';
import type { LanePlace } from './lanes.ts';

/** How the ledger of a log is divided: for good, by the first elections in it. */
export type LedgerShape = Readonly<{ partitionCount: number; laneCount: number }>;

export type LedgerSettings = Pick<Config, 'KAFKA_TOPIC_PROFILE' | 'LEDGER_LANES'>;

/** The settings or the cluster divide the ledger otherwise than its log does: a person must look. */
export class OtherShape extends KafkaFailure {
  override readonly name = 'OtherShape';

  constructor(message: string) {
    super('KAFKA_REFUSED', message);
  }
}

const coPartitioned: readonly Topic[] = ['wallet.commands', 'wallet.events', 'team.events', 'wallet.state'];
const RETRY_MS = 500;

/**
 * The shape of the ledger, once it is sure that wallets lie where the log began to put them, and that every
 * owner there ever was had the same lanes: the first record of each partition of wallet.events is the election
 * of its first owner, and names both counts. A log that nobody has owned yet gets the lanes of the settings.
 * Rejects with `OtherShape`; waits while Kafka cannot be reached, undefined when stopped.
 */
export async function ledgerShape(
  kafka: KafkaConnection,
  settings: LedgerSettings,
  { log, signal }: { readonly log: Logger; readonly signal: AbortSignal },
): Promise<LedgerShape | undefined> {
  while (!signal.aborted) {
    try {
      const partitionCount = await kafka.partitionCount('wallet.events');
      for (const topic of coPartitioned)
        refusePartitions(topic, await kafka.partitionCount(topic), partitionCount);
      const elections = [...(await firstElections(kafka)).values()];
      for (const { partition_count: recorded } of elections)
        refusePartitions('wallet.events', partitionCount, recorded);
      return { partitionCount, laneCount: laneCountOf(settings, partitionCount, elections) };
    } catch (error) {
      if (error instanceof KafkaFailure && !error.retryable) throw error;
      log.warn({ reason: reasonOf(error) }, 'The ledger waits for Kafka.');
      await delay(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

function refusePartitions(topic: Topic, count: number, expected: number): void {
  if (count === expected) return;
  throw new OtherShape(
    `${topic} has ${count} partitions, but this log was begun with ${expected}: each wallet would have two ` +
      'owners. Restore the count, or copy the log to new topics with another KAFKA_TOPIC_PREFIX.',
  );
}

/** The lanes that the settings ask for and the log allows. Throws `OtherShape`. */
export function laneCountOf(
  { KAFKA_TOPIC_PROFILE: profile, LEDGER_LANES: asked }: LedgerSettings,
  partitionCount: number,
  elections: readonly Pick<LedgerOwnerElected, 'lane_count' | 'partition_count'>[],
): number {
  const [recorded, ...others] = new Set(elections.map(recordedLanes));
  if (others.length > 0)
    throw new OtherShape(
      `The first owners in this log had ${[recorded, ...others].join(' and ')} lanes, started side by side with ` +
        'different LEDGER_LANES: some of its partitions can never be owned. Begin a new log with another KAFKA_TOPIC_PREFIX.',
    );
  if (recorded !== undefined) {
    if (asked !== undefined && asked !== recorded) throw otherLanes(asked, recorded);
    return recorded;
  }
  if (asked !== undefined && asked > partitionCount)
    throw new OtherShape(
      `LEDGER_LANES is ${asked}, but wallet.commands has ${partitionCount} partitions: set it to ${partitionCount} at most.`,
    );
  return asked ?? (profile === 'embedded' ? 1 : partitionCount);
}

/**
 * Rejects with `OtherShape` when a partition of the lane was begun in another number of lanes: instances
 * with different settings that started on a new log side by side both found it without an election. Called
 * after the own election, so that there is a first one, and before anything is decided; owners of different
 * lane counts, which do not fence one another, so never both get to decide.
 */
export async function refuseOtherLanes(kafka: KafkaConnection, place: LanePlace): Promise<void> {
  const elections = await firstElections(kafka, place.partitions);
  for (const election of elections.values()) {
    const recorded = recordedLanes(election);
    if (recorded !== place.laneCount) throw otherLanes(place.laneCount, recorded);
  }
}

const recordedLanes = ({
  lane_count,
  partition_count,
}: Pick<LedgerOwnerElected, 'lane_count' | 'partition_count'>): number => lane_count ?? partition_count;

const otherLanes = (asked: number, recorded: number): OtherShape =>
  new OtherShape(
    `The ledger is to have ${asked} lanes, but this log was begun with ${recorded}: owners of other lanes would not ` +
      `keep each other from a wallet. Set LEDGER_LANES to ${recorded} or leave it out, or copy the log to new topics ` +
      'with another KAFKA_TOPIC_PREFIX.',
  );
