import { endOffsets } from '#infra/kafka/log-reader.ts';
import { dropReadModel } from '#infra/postgres/drop-read-model.ts';
import type { RecordPosition } from '#infra/postgres/projection-watch.ts';
import type { Topic } from '#schemas/topics.ts';
import { DatabaseUnavailable, queryRows } from '../database.ts';
import type { AdminCommand } from './command.ts';
import { type Operator, Refused } from './operator.ts';

/** The topics whose records become rows that have to be there again. */
const rebuiltFrom: readonly Topic[] = ['team.events', 'wallet.events', 'job.events'];
const LOOK_MS = 1_000;
/** A projector that gets no further for so long is not running, or cannot. */
const STANDSTILL_MS = 30_000;

const rebuild: AdminCommand = {
  name: 'rebuild',
  summary: 'Drop the read model and wait until the projector has built it again from the log.',
  usage: [],
  options: {},
  run: async (_options, operator) => {
    const startedAtMs = Date.now();
    const ends = (await Promise.all(rebuiltFrom.map((topic) => lastPositions(operator, topic)))).flat();
    // Listening before the drop, so that the notice of the new beginning is heard.
    await operator.watch.waitFor([], 0);
    await dropReadModel(operator.pool);
    process.stderr.write('The read model is dropped; waiting for the projector.\n');
    await untilApplied(operator, ends);
    const counts = await countRows(operator);
    const seconds = Math.round((Date.now() - startedAtMs) / 100) / 10;
    const rows = Object.entries(counts).map(([table, count]) => `${count} ${table}`);
    return {
      json: { rebuilt: true, seconds, rows: counts },
      lines: [`The read model was rebuilt in ${seconds} s: ${rows.join(', ')}.`],
    };
  },
};

async function lastPositions(operator: Operator, topic: Topic): Promise<readonly RecordPosition[]> {
  const ends = await endOffsets(operator.kafka, topic);
  return ends
    .map((endOffset, partition) => ({ topic, partition, offset: endOffset - 1 }))
    .filter(({ offset }) => offset >= 0);
}

async function untilApplied(operator: Operator, ends: readonly RecordPosition[]): Promise<void> {
  let furthest = -1;
  let movedAtMs = Date.now();
  for (;;) {
    const positions = await readPositions(operator);
    if (ends.every(({ topic, partition, offset }) => (positions.get(`${topic}/${partition}`) ?? 0) > offset))
      return;
    const total = [...positions.values()].reduce((sum, next) => sum + next, 0);
    if (total !== furthest) movedAtMs = Date.now();
    furthest = total;
    if (Date.now() - movedAtMs > STANDSTILL_MS)
      throw new Refused(
        'The read model is dropped, but the projector builds nothing. Start it (`npm start -- projector`) and it will.',
      );
    await operator.watch.waitFor(ends, LOOK_MS);
  }
}

async function readPositions(operator: Operator): Promise<ReadonlyMap<string, number>> {
  try {
    const rows = await queryRows<{ topic: string; partition: number; next_offset: number }>(
      operator.pool,
      'SELECT topic, partition, next_offset FROM read_model.projection_positions',
      [],
    );
    return new Map(rows.map((row) => [`${row.topic}/${row.partition}`, row.next_offset]));
  } catch (error) {
    // The tables are not there again yet.
    if (error instanceof DatabaseUnavailable) return new Map();
    throw error;
  }
}

async function countRows(operator: Operator): Promise<Readonly<Record<string, number>>> {
  const [row] = await queryRows<Record<string, number>>(
    operator.pool,
    `SELECT (SELECT count(*) FROM read_model.teams) AS teams,
            (SELECT count(*) FROM read_model.api_keys) AS api_keys,
            (SELECT count(*) FROM read_model.wallet_transactions) AS wallet_transactions,
            (SELECT count(*) FROM read_model.jobs) AS jobs,
            (SELECT count(*) FROM read_model.clips) AS clips`,
    [],
  );
  return row ?? {};
}

export const rebuildCommands: readonly AdminCommand[] = [rebuild];
