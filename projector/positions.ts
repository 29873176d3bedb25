import type pg from 'pg';

/**
 * How far each partition is in the tables. A position's row is locked by whoever writes the rows of its
 * partition, in the same transaction: that is what makes every event count once.
 */

export type Position = Readonly<{ topic: string; partition: number; nextOffset: number }>;

export const positionKey = ({ topic, partition }: Pick<Position, 'topic' | 'partition'>): string =>
  `${topic}/${partition}`;

/** Starts partitions that have no position yet at 0. */
export async function insertMissingPositions(
  client: pg.ClientBase,
  partitions: readonly Pick<Position, 'topic' | 'partition'>[],
): Promise<void> {
  await client.query(
    `INSERT INTO read_model.projection_positions (topic, partition, next_offset)
     SELECT topic, partition, 0 FROM unnest($1::text[], $2::int[]) AS new (topic, partition)
     ON CONFLICT DO NOTHING`,
    [partitions.map(({ topic }) => topic), partitions.map(({ partition }) => partition)],
  );
}

/** Locks the positions until the transaction ends, always in the same order, and reads them. */
export async function lockPositions(
  client: pg.ClientBase,
  partitions: readonly Pick<Position, 'topic' | 'partition'>[],
): Promise<readonly Position[]> {
  const { rows } = await client.query<{ topic: string; partition: number; next_offset: number }>(
    `SELECT topic, partition, next_offset FROM read_model.projection_positions
     WHERE (topic, partition) IN (SELECT * FROM unnest($1::text[], $2::int[]))
     ORDER BY topic, partition
     FOR UPDATE`,
    [partitions.map(({ topic }) => topic), partitions.map(({ partition }) => partition)],
  );
  return rows.map(positionOf);
}

/** Every recorded position. */
export async function readPositions(client: pg.ClientBase | pg.Pool): Promise<readonly Position[]> {
  const { rows } = await client.query<{ topic: string; partition: number; next_offset: number }>(
    'SELECT topic, partition, next_offset FROM read_model.projection_positions ORDER BY topic, partition',
  );
  return rows.map(positionOf);
}

/** Records the positions and tells whoever waits for them; both happen at the commit. */
export async function savePositions(client: pg.ClientBase, positions: readonly Position[]): Promise<void> {
  await client.query(
    `WITH saved AS (
       UPDATE read_model.projection_positions AS position
       SET next_offset = new.next_offset
       FROM unnest($1::text[], $2::int[], $3::bigint[]) AS new (topic, partition, next_offset)
       WHERE position.topic = new.topic AND position.partition = new.partition
     )
     SELECT pg_notify('projection', payload) FROM unnest($4::text[]) AS payload`,
    [
      positions.map(({ topic }) => topic),
      positions.map(({ partition }) => partition),
      positions.map(({ nextOffset }) => nextOffset),
      notifications(positions),
    ],
  );
}

/** A notification holds at most 8,000 bytes; a position takes about 40. */
const POSITIONS_PER_NOTIFICATION = 100;

function notifications(positions: readonly Position[]): readonly string[] {
  const triples = positions.map(({ topic, partition, nextOffset }) => [topic, partition, nextOffset]);
  const count = Math.ceil(triples.length / POSITIONS_PER_NOTIFICATION);
  return Array.from({ length: count }, (_, index) => {
    const start = index * POSITIONS_PER_NOTIFICATION;
    return JSON.stringify(triples.slice(start, start + POSITIONS_PER_NOTIFICATION));
  });
}

const positionOf = (row: { topic: string; partition: number; next_offset: number }): Position => ({
  topic: row.topic,
  partition: row.partition,
  nextOffset: row.next_offset,
});
