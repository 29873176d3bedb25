import { z } from 'zod';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type { SegmentReport, SwapPlan, SwappedSegment } from '../contract.ts';
import { segmentKey, segmentOfReport, segmentReportKey, segmentsPrefix, swapPlanKey } from './swap-keys.ts';

/** A job's plan with what was said of its face image: nothing else is needed to go on with the job. */
export type PlannedSwap = Readonly<{ plan: SwapPlan; face_notes: readonly string[] }>;

const planVersion = 1;
/** Five minutes at a variable rate of 60 frames a second with a face all the time are some 3 MB. */
const maxPlanBytes = 64 * 1024 * 1024;

/**
 * The job's plan. Throws `StorageFailure` where there is none, and `MediaFailure` where a worker of another
 * release wrote it: half understood, it would be swapped wrongly.
 */
export async function readSwapPlan(
  storage: ObjectStorage,
  key: string,
  signal: AbortSignal,
): Promise<PlannedSwap> {
  const stored = JSON.parse((await storage.getBytes(key, maxPlanBytes, signal)).toString('utf8'));
  // Our own writing: the version says what the rest looks like.
  if (stored?.plan?.version === planVersion) return stored as PlannedSwap;
  const message = 'The face swap was planned by another release of the service: order it again.';
  throw new MediaFailure('NOT_SUPPORTED', message, { detail: `${key} is no plan of version ${planVersion}` });
}

/** Stores a job's plan, compact. */
export async function writeSwapPlan(
  storage: ObjectStorage,
  jobId: string,
  planned: PlannedSwap,
  signal: AbortSignal,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(planned));
  await storage.putBytes(swapPlanKey(jobId), body, { contentType: 'application/json', signal });
}

const segmentReport = z.object({
  index: z.int(),
  first_frame: z.int(),
  end_frame: z.int(),
  frames_swapped: z.int(),
  frames_missed: z.int(),
  times: z.object({
    decode_ms: z.number(),
    detect_ms: z.number(),
    mesh_ms: z.number(),
    warp_ms: z.number(),
    blend_ms: z.number(),
    encode_ms: z.number(),
    wall_ms: z.number(),
  }),
}) satisfies z.ZodType<SegmentReport>;

const maxReportBytes = 64 * 1024;

/** The segments of a job that are there whole, by number. */
export async function storedSegments(
  storage: ObjectStorage,
  jobId: string,
  signal: AbortSignal,
): Promise<ReadonlySet<number>> {
  const numbers = new Set<number>();
  for await (const { key } of storage.list(segmentsPrefix(jobId), signal)) {
    const number = segmentOfReport(key);
    if (number !== undefined) numbers.add(number);
  }
  return numbers;
}

/** Stores a segment, its report last. */
export async function storeSegment(
  storage: ObjectStorage,
  jobId: string,
  { segment, path, report }: SwappedSegment,
  signal: AbortSignal,
): Promise<void> {
  await storage.putFile(segmentKey(jobId, segment), path, { contentType: 'video/x-matroska', signal });
  const body = Buffer.from(JSON.stringify(report));
  await storage.putBytes(segmentReportKey(jobId, segment), body, { contentType: 'application/json', signal });
}

/** Puts a stored segment at `path`, a new file, and gives its report. */
export async function fetchSegment(
  storage: ObjectStorage,
  about: Readonly<{ jobId: string; segment: number; path: string; maxBytes: number }>,
  signal: AbortSignal,
): Promise<SegmentReport> {
  const { jobId, segment, path, maxBytes } = about;
  const bytes = await storage.getBytes(segmentReportKey(jobId, segment), maxReportBytes, signal);
  await storage.getToFile(segmentKey(jobId, segment), path, { maxBytes, signal });
  return segmentReport.parse(JSON.parse(bytes.toString('utf8')));
}
