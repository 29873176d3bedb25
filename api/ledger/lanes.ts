/**
 * Lanes: the fixed groups of partitions in which the ledger is owned. One owner decides for all partitions of
 * a lane, in transactions of one transactional id, so a lane costs one transaction however many of its
 * partitions had commands. Lane `n` of `laneCount` has the partitions `p` with `p % laneCount === n`; its
 * lowest partition is `n` itself.
 */

/** One lane, and the ledger it is a part of. */
export type LanePlace = Readonly<{
  lane: number;
  laneCount: number;
  partitions: readonly number[];
  partitionCount: number;
  replyPartitionCount: number;
}>;

/** The partitions of a lane, the lowest first. */
export const partitionsOfLane = (
  lane: number,
  laneCount: number,
  partitionCount: number,
): readonly number[] =>
  Array.from({ length: partitionCount }, (_, partition) => partition).filter(
    (partition) => partition % laneCount === lane,
  );

/**
 * The transactional id of a lane's writer. It is named for the lowest partition, so where each partition is a
 * lane of its own it is the id that partitions had before there were lanes.
 */
export const transactionalIdOf = (lane: number): string => `ledger-${lane}`;
