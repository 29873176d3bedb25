import type pg from 'pg';
import { splitByCreation } from '../split-by-creation.ts';
import { lockJobs } from './job-lock.ts';
import {
  clipEndRows,
  clipRows,
  type JobProgressed,
  type JobRequested,
  progressByJob,
  swapEndRows,
  swapRows,
  type TerminalClipEvent,
  type TerminalEvent,
  type TerminalSwapEvent,
} from './job-rows.ts';
import {
  completeClipJobs,
  deleteStages,
  endClips,
  insertClips,
  insertJobs,
  saveProgress,
  settleClips,
  showProgress,
} from './job-statements.ts';
import { endSwaps, finishSwapJobs, insertSwaps, settleSwaps } from './swap-statements.ts';

export type JobEntry = Readonly<{ created: JobRequested }> | Readonly<{ event: TerminalEvent }>;

export type JobChanges = Readonly<{
  /** In the order of their partitions. */
  jobEvents: readonly JobEntry[];
  progress: readonly JobProgressed[];
  /** Jobs of which this transaction has written settlements. */
  settledJobs: ReadonlySet<string>;
}>;

/**
 * Writes the rows of jobs, clips and swaps. What a row says follows from what has been read of each topic, not from
 * the order in which the topics were read: settlements are looked up among the wallets' transactions and
 * progress among what is kept, whichever came first.
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
  await endItems(client, early);
  if (created.length > 0) await insertRequested(client, created);
  await endItems(client, later);
  const unsettled = [...new Set([...requested, ...changes.settledJobs])];
  if (unsettled.length > 0) await settleItems(client, unsettled);
  const finishing = [...new Set([...ended, ...changes.settledJobs])];
  if (finishing.length > 0) await finishJobs(client, finishing);
  if (progressed.length > 0) await projectProgress(client, changes.progress);
}

async function insertRequested(client: pg.ClientBase, requests: readonly JobRequested[]): Promise<void> {
  await insertJobs(client, requests);
  const clips = requests.flatMap(clipRows);
  if (clips.length > 0) await insertClips(client, clips);
  const swaps = requests.flatMap(swapRows);
  if (swaps.length > 0) await insertSwaps(client, swaps);
}

async function endItems(client: pg.ClientBase, events: readonly TerminalEvent[]): Promise<void> {
  const clips = events.filter(isOfClip);
  if (clips.length > 0) await endClips(client, clipEndRows(clips));
  const swaps = events.filter(isOfSwap);
  if (swaps.length > 0) await endSwaps(client, swapEndRows(swaps));
}

const isOfClip = (event: TerminalEvent): event is TerminalClipEvent =>
  event.name === 'ClipCompleted' || event.name === 'ClipFailed';
const isOfSwap = (event: TerminalEvent): event is TerminalSwapEvent => !isOfClip(event);

async function settleItems(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  await settleClips(client, jobIds);
  await settleSwaps(client, jobIds);
}

async function finishJobs(client: pg.ClientBase, jobIds: readonly string[]): Promise<void> {
  const finished = [...(await completeClipJobs(client, jobIds)), ...(await finishSwapJobs(client, jobIds))];
  if (finished.length > 0) await deleteStages(client, finished);
}

async function projectProgress(client: pg.ClientBase, events: readonly JobProgressed[]): Promise<void> {
  const progress = progressByJob(events);
  await saveProgress(client, progress);
  await showProgress(client, [...progress.keys()]);
}
