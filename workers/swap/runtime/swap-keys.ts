import { intermediatesPrefix, resultsPrefix } from '../../runtime/object-keys.ts';

/** Where a face swap's objects are, beside the video itself, whose key is that of a clip job's source. */

export const faceImageKey = (jobId: string): string => `${intermediatesPrefix(jobId)}face-image`;
export const swapPlanKey = (jobId: string): string => `${intermediatesPrefix(jobId)}swap-plan.json`;

export const segmentsPrefix = (jobId: string): string => `${intermediatesPrefix(jobId)}segments/`;
export const segmentKey = (jobId: string, segment: number): string =>
  `${segmentsPrefix(jobId)}${segment}.mkv`;
/** Written after the segment itself: where it is, the segment is whole. */
export const segmentReportKey = (jobId: string, segment: number): string =>
  `${segmentsPrefix(jobId)}${segment}.json`;
/** The number of the segment whose report `key` is; undefined for other objects. */
export function segmentOfReport(key: string): number | undefined {
  const number = /\/(\d+)\.json$/.exec(key)?.[1];
  return number === undefined ? undefined : Number(number);
}

export const swapKey = (jobId: string): string => `${resultsPrefix(jobId)}face-swap.mp4`;
export const swapSheetKey = (jobId: string): string => `${resultsPrefix(jobId)}face-swap.png`;
/** How the swap ended: written after its other objects and before its event. */
export const swapOutcomeKey = (jobId: string): string => `${resultsPrefix(jobId)}face-swap.json`;
