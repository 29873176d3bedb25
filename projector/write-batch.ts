import type pg from 'pg';
import type { Logger } from '#infra/log.ts';
import { beginWritingRows } from '#infra/postgres/read-model-lock.ts';
import { inTransaction } from '#infra/postgres/transaction.ts';
import { joinEvents, type ProjectedEvents } from './decode-records.ts';
import { projectJobEvents } from './job/project-job-events.ts';
import { lockPositions, type Position, positionKey, savePositions } from './positions.ts';
import { projectTeamEvents } from './team/project-team-events.ts';
import { projectWalletEvents } from './wallet/project-wallet-events.ts';

/** What one partition brings to a transaction: the events from `fromOffset` up to `nextOffset`. */
export type PartitionBatch = Readonly<{
  topic: string;
  partition: number;
  fromOffset: number;
  nextOffset: number;
  events: ProjectedEvents;
}>;

/** The recorded positions of these partitions are not where this projector left them. */
export class PositionsMoved extends Error {
  override readonly name = 'PositionsMoved';
  readonly keys: ReadonlySet<string>;

  constructor(keys: ReadonlySet<string>) {
    super(`The positions of ${[...keys].join(', ')} were moved by another projector or by a rebuild.`);
    this.keys = keys;
  }
}

/**
 * Writes the rows of `batches` (one per partition) and their new positions in ONE transaction, and notifies
 * those who wait. Throws `PositionsMoved`, with nothing written, when a position is not at `fromOffset`:
 * then another projector owns the partition by now, or the rows are gone.
 *
 * The commit does not wait for the disk (`synchronous_commit = off`): rows and positions are lost together
 * or not at all, and what is lost is read from the log again.
 */
export async function writeBatch(
  pool: pg.Pool,
  batches: readonly PartitionBatch[],
  log: Logger,
): Promise<void> {
  await inTransaction(pool, (client) => writeRows(client, batches, log), beginWritingRows);
}

async function writeRows(
  client: pg.ClientBase,
  batches: readonly PartitionBatch[],
  log: Logger,
): Promise<void> {
  checkPositions(batches, await lockPositions(client, batches));
  const events = joinEvents(batches.map((batch) => batch.events));
  await projectTeamEvents(client, events.teamEvents);
  const settledJobs = await projectWalletEvents(client, events.walletEvents, log);
  await projectJobEvents(client, { jobEvents: events.jobEvents, progress: events.progress, settledJobs });
  await savePositions(client, batches);
}

function checkPositions(batches: readonly PartitionBatch[], recorded: readonly Position[]): void {
  const offsets = new Map(recorded.map((position) => [positionKey(position), position.nextOffset]));
  const moved = batches.filter((batch) => offsets.get(positionKey(batch)) !== batch.fromOffset);
  if (moved.length > 0) throw new PositionsMoved(new Set(moved.map(positionKey)));
}
