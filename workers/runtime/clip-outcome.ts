import { z } from 'zod';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { unlessMissing } from '#infra/object-storage/unless-missing.ts';
import type { ClipCompleted, ClipFailed } from '#schemas/records.ts';
import type { ClipReport } from '../clip/contract.ts';
import type { ClipIdentity } from './clip-identity.ts';
import { isOutcomeKey, outcomeKey, resultsPrefix } from './object-keys.ts';

/** How a clip ended: its terminal event. */
export type ClipOutcome =
  | Readonly<{ name: 'ClipCompleted'; value: ClipCompleted }>
  | Readonly<{ name: 'ClipFailed'; value: ClipFailed }>;

const identity = {
  event_id: z.string(),
  job_id: z.string(),
  team_id: z.number(),
  debit_id: z.string(),
  occurred_at: z.number(),
  item: z.number(),
  clip_id: z.number(),
};
const outcomeDocument = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('ClipCompleted'),
    value: z.object({
      ...identity,
      title: z.string(),
      heading: z.string().nullable(),
      object_key: z.string(),
      sheet_object_key: z.string().nullable(),
      duration_ms: z.number(),
      width: z.number(),
      height: z.number(),
      byte_size: z.number(),
      source_start_ms: z.number(),
      source_end_ms: z.number(),
      notes: z.array(z.string()),
    }),
  }),
  z.object({
    name: z.literal('ClipFailed'),
    value: z.object({ ...identity, code: z.string(), error: z.string() }),
  }),
]);

const maxOutcomeBytes = 256 * 1024;

/**
 * The clips' outcomes in object storage. Each is written before its event is appended, so that whoever
 * repeats the task appends the very same event instead of doing the work again.
 */
export class ClipOutcomes {
  readonly #storage: ObjectStorage;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** How the clip ended, or undefined while that is open. */
  async read(clip: ClipIdentity, signal: AbortSignal): Promise<ClipOutcome | undefined> {
    const key = outcomeKey(clip.jobId, clip.clipId);
    const bytes = await unlessMissing(this.#storage.getBytes(key, maxOutcomeBytes, signal));
    return bytes && outcomeDocument.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** The outcomes that are known of `clips`, all of one job, by item. */
  async readAll(
    clips: readonly ClipIdentity[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<number, ClipOutcome>> {
    const known = new Map<number, ClipOutcome>();
    const [first] = clips;
    if (first === undefined) return known;
    const keys = await this.#keys(first.jobId, signal);
    for (const clip of clips) {
      if (!keys.has(outcomeKey(clip.jobId, clip.clipId))) continue;
      const outcome = await this.read(clip, signal);
      if (outcome !== undefined) known.set(clip.item, outcome);
    }
    return known;
  }

  /** How many clips of the job have ended. */
  async count(jobId: string, signal: AbortSignal): Promise<number> {
    return (await this.#keys(jobId, signal)).size;
  }

  /** Keeps how the clip ended, and what was measured on it, for people. */
  async write(outcome: ClipOutcome, report: ClipReport | undefined, signal: AbortSignal): Promise<void> {
    const { job_id: jobId, clip_id: clipId } = outcome.value;
    const body = Buffer.from(JSON.stringify({ ...outcome, report }, undefined, 2));
    await this.#storage.putBytes(outcomeKey(jobId, clipId), body, {
      contentType: 'application/json',
      signal,
    });
  }

  async #keys(jobId: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    for await (const { key } of this.#storage.list(resultsPrefix(jobId), signal)) {
      if (isOutcomeKey(key)) keys.add(key);
    }
    return keys;
  }
}
