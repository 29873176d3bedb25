import { z } from 'zod';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { unlessMissing } from '#infra/object-storage/unless-missing.ts';
import type { SwapCompleted, SwapFailed } from '#schemas/records.ts';
import type { SwapReport } from '../contract.ts';
import { swapOutcomeKey } from './swap-keys.ts';

/** How a face swap ended: its terminal event. */
export type SwapOutcome =
  | Readonly<{ name: 'SwapCompleted'; value: SwapCompleted }>
  | Readonly<{ name: 'SwapFailed'; value: SwapFailed }>;

const identity = {
  event_id: z.string(),
  job_id: z.string(),
  team_id: z.number(),
  debit_id: z.string(),
  occurred_at: z.number(),
};
const outcomeDocument = z.discriminatedUnion('name', [
  z.object({
    name: z.literal('SwapCompleted'),
    value: z.object({
      ...identity,
      object_key: z.string(),
      sheet_object_key: z.string().nullable(),
      engine: z.string(),
      mode: z.string(),
      duration_ms: z.number(),
      width: z.number(),
      height: z.number(),
      byte_size: z.number(),
      frame_count: z.number(),
      swapped_frame_count: z.number(),
      notes: z.array(z.string()),
      missed_frame_count: z.number().nullable(),
      segment_count: z.number().nullable(),
    }),
  }),
  z.object({
    name: z.literal('SwapFailed'),
    value: z.object({ ...identity, code: z.string(), error: z.string() }),
  }),
]);

/** The report of a long video with many segments is some 100 kB. */
const maxOutcomeBytes = 4 * 1024 * 1024;

/**
 * The swaps' outcomes in object storage. Each is written before its event is appended, so that whoever repeats
 * a task appends the very same event instead of doing the work again.
 */
export class SwapOutcomes {
  readonly #storage: ObjectStorage;

  constructor(storage: ObjectStorage) {
    this.#storage = storage;
  }

  /** How the swap ended, or undefined while that is open. */
  async read(jobId: string, signal: AbortSignal): Promise<SwapOutcome | undefined> {
    const bytes = await unlessMissing(this.#storage.getBytes(swapOutcomeKey(jobId), maxOutcomeBytes, signal));
    return bytes === undefined ? undefined : outcomeDocument.parse(JSON.parse(bytes.toString('utf8')));
  }

  /** Keeps how the swap ended, and what was measured on it, for people. */
  async write(outcome: SwapOutcome, report: SwapReport | undefined, signal: AbortSignal): Promise<void> {
    const body = Buffer.from(JSON.stringify({ ...outcome, report }, undefined, 2));
    await this.#storage.putBytes(swapOutcomeKey(outcome.value.job_id), body, {
      contentType: 'application/json',
      signal,
    });
  }
}
