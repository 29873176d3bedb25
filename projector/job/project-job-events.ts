import type pg from 'pg';
import { splitByCreation } from '../split-by-creation.ts';
import { lockJobs } from './job-lock.ts';
import {
  clipEndRows,
  clipRows,
  type JobProgressed,
  type JobRequested,
  newestStages,
  type TerminalClipEvent,
} from './job-rows.ts';
import {
  completeJobs,
  deleteStages,
  endClips,
  insertClips,
  insertJobs,
  saveStages,
  settleClips,
  showStages,
} from './job-statements.ts';

export type JobEntry = Readonly<{ created: JobRequested }> | Readonly<{ event: TerminalClipEvent }>;

export type JobChanges = Readonly<{
  /** In the order of their partitions. */
  jobEvents: readonly JobEntry[];
  progress: readonly JobProgressed[];
  /** Jobs of which this transaction has written settlements. */
  settledJobs: ReadonlySet<string>;
}>;

/**
 * Writes the rows of jobs and clips. What a row says follows from what has been read of each topic, not from
 * the order in which the topics were read: settlements are looked up among the wallets' transactions and
 * stages among those kept, whichever came first.
 */
export async function projectJobEvents(client: pg.ClientBase, changes: JobChanges): Promise<void> {
  const { early, created, later } = splitByCreation(changes.jobEvents, {
    created: (request) => request.job_id,
    event: ({ value }) => value.job_id,
  });
  const requested = created.map((request) => request.job_id);
  const ended = [...early, ...later].map(({ value }) => value.job_id);
  const progressed = changes.progress.map((event) => event.job_id);
  const touched = new Set([...requested, ...ended, ...progressed, ...changes.settledJobs]);
  if (touched.size === 0) return;
  await lockJobs(client, touched);
  if (early.length > 0) await endClips(client, clipEndRows(early));
  if (created.length > 0) await insertRequested(client, created);
  if (later.length > 0) await endClips(client, clipEndRows(later));
  const unsettled = new Set([...requested, ...changes.settledJobs]);
  if (unsettled.size > 0) await settleClips(client, [...unsettled]);
  const finishing = new Set([...ended, ...changes.settledJobs]);
  if (finishing.size > 0) await finishJobs(client, [...finishing]);
  await projectStages(client, changes.progress);
}

async function insertRequested(client: pg.ClientBase, requests: readonly JobRequested[]): Promise<void> {
  await insertJobs(client, requests);
  const clips = requests.flatMap(clipRows);
  if (clips.length > 0) await insertClips(client, clips);
}

async function finishJobs(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  const completed = await completeJobs(client, jobIds);
  if (completed.length > 0) await deleteStages(client, completed);
}

async function projectStages(client: pg.ClientBase, progress: readonly JobProgressed[]): Promise<void> {
  if (progress.length === 0) return;
  const stages = newestStages(progress);
  await saveStages(client, stages);
  await showStages(client, [...stages.keys()]);
}
