import { planVersion } from '../clip/contract.ts';

/** Where a job's objects are. The keys follow from the ids, so that a repeated task writes the same objects. */

/** Everything of a job that is deleted when the job has ended. */
export const intermediatesPrefix = (jobId: string): string => `jobs/${jobId}/`;
export const sourceKey = (jobId: string): string => `${intermediatesPrefix(jobId)}source`;
/** What was seen and heard in the source: the same for all clips and retries. */
export const analysisKey = (jobId: string): string => `${intermediatesPrefix(jobId)}analysis.json`;
/** Music that was fetched; uploaded music stays where it is. */
export const musicKey = (jobId: string): string => `${intermediatesPrefix(jobId)}music`;
/** Workers of two releases that share a job during an update plan it each for itself: the first clips count. */
export const planKey = (jobId: string): string => `${intermediatesPrefix(jobId)}plan-${planVersion}.json`;
/** While this is there, the intermediates stay: a task of the job is dead and may be driven again. */
export const keptForRedriveKey = (jobId: string): string => `${intermediatesPrefix(jobId)}kept-for-redrive`;

export const resultsPrefix = (jobId: string): string => `results/${jobId}/`;
export const clipKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.mp4`;
export const sheetKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.png`;
/** Frames of the source with what the plan saw in them. */
export const sourceSheetKey = (jobId: string, clipId: number): string =>
  `${resultsPrefix(jobId)}${clipId}.source.png`;
/** The clip's own part of the plan, which outlives the job's. */
export const clipPlanKey = (jobId: string, clipId: number): string =>
  `${resultsPrefix(jobId)}${clipId}.plan.json`;
/** How the clip ended: written after its other objects and before its event. */
export const outcomeKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.json`;
/** Whether `key` is an outcome's, of all that lies under `resultsPrefix`. */
export const isOutcomeKey = (key: string): boolean => /\/\d+\.json$/.test(key);
/** What lies under `resultsPrefix` of a clip before it has an outcome. */
export const clipObjectKeys = (jobId: string, clipId: number): readonly string[] =>
  [clipKey, sheetKey, sourceSheetKey, clipPlanKey].map((keyOf) => keyOf(jobId, clipId));
