import { uploadsPrefix } from '#infra/object-storage/upload-keys.ts';
import { appendRecords } from './append-records.ts';
import type { ClipIdentity } from './clip-identity.ts';
import type { ClipOutcome } from './clip-outcome.ts';
import { type Cause, failedClip, outcomeRecord } from './clip-records.ts';
import { deadRecord, type GivenUpTask } from './dead-task.ts';
import type { JobParts } from './job-parts.ts';
import { intermediatesPrefix, keptForRedriveKey } from './object-keys.ts';
import type { TaskFailure } from './task-failure.ts';

/** A failure is recorded also while object storage is down: each look there may take this long. */
const storagePatienceMs = 5_000;

/**
 * Fails those of `clips` that have not ended otherwise, and puts `dead` aside for an operator, in one append.
 * Rejects only when Kafka cannot take it.
 */
export async function endClipsAsFailed(
  parts: JobParts,
  end: {
    readonly clips: readonly ClipIdentity[];
    readonly itemCount: number;
    readonly failure: Pick<TaskFailure, 'code' | 'message'>;
    readonly cause: Cause;
    readonly dead: GivenUpTask | undefined;
  },
  signal: AbortSignal,
): Promise<void> {
  const [first] = end.clips;
  if (first === undefined) return;
  const atMs = parts.now();
  const known = await patiently(parts, signal, (limit) => parts.outcomes.readAll(end.clips, limit));
  const outcomes = end.clips.map(
    (clip) => known?.get(clip.item) ?? failedClip(clip, { ...end.failure, atMs }),
  );
  const { dead } = end;
  await patiently(parts, signal, async (limit) => {
    if (dead !== undefined) await keepForRedrive(parts, first.jobId, limit);
    for (const outcome of outcomes) {
      if (!known?.has(outcome.value.item)) await parts.outcomes.write(outcome, undefined, limit);
    }
  });
  const records = outcomes.map((outcome) => outcomeRecord(outcome, end.cause));
  if (dead !== undefined) records.push(deadRecord(dead, atMs, end.cause));
  await appendRecords(parts.appender, records, signal);
  await removeIntermediatesOfEndedJob(parts, first.jobId, end.itemCount, signal);
}

/** Appends how a clip ended, once that is kept in object storage, and cleans up behind the job's last clip. */
export async function announceOutcome(
  parts: JobParts,
  outcome: ClipOutcome,
  about: { readonly itemCount: number; readonly cause: Cause },
  signal: AbortSignal,
): Promise<void> {
  await appendRecords(parts.appender, [outcomeRecord(outcome, about.cause)], signal);
  await removeIntermediatesOfEndedJob(parts, outcome.value.job_id, about.itemCount, signal);
}

/**
 * Deletes the job's source, uploaded files and plan once all its clips have ended, whoever sees that first. What is not
 * deleted here (a crash, an outage, a dead task that may be driven again) goes by the bucket's retention.
 */
export async function removeIntermediatesOfEndedJob(
  parts: JobParts,
  jobId: string,
  itemCount: number,
  signal: AbortSignal,
): Promise<void> {
  await patiently(parts, signal, async (limit) => {
    if ((await parts.outcomes.count(jobId, limit)) < itemCount) return;
    await removeIntermediates(parts, jobId, limit);
  });
}

/** Deletes the source, uploaded files and plan of a job that is over, unless an operator may still need them. */
export async function removeIntermediates(
  parts: JobParts,
  jobId: string,
  signal: AbortSignal,
): Promise<void> {
  const keys: string[] = [];
  for (const prefix of [intermediatesPrefix(jobId), uploadsPrefix(jobId)])
    for await (const { key } of parts.storage.list(prefix, signal)) keys.push(key);
  if (keys.includes(keptForRedriveKey(jobId))) return;
  for (const key of keys) await parts.storage.delete(key, signal);
}

/** Keeps the intermediates of a job with a dead task, which an operator may drive again. */
export async function keepForRedrive(parts: JobParts, jobId: string, signal: AbortSignal): Promise<void> {
  await parts.storage.putBytes(keptForRedriveKey(jobId), Buffer.alloc(0), {
    contentType: 'application/octet-stream',
    signal,
  });
}

/** The result of `ask`, or undefined when object storage does not answer in time. */
export async function patiently<Result>(
  parts: JobParts,
  signal: AbortSignal,
  ask: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await ask(AbortSignal.any([signal, AbortSignal.timeout(storagePatienceMs)]));
  } catch (error) {
    signal.throwIfAborted();
    parts.log.warn({ err: error }, 'object storage did not answer while a job was ended');
    return undefined;
  }
}
