/** Where a job's objects are. The keys follow from the ids, so that a repeated task writes the same objects. */

/** Everything of a job that is deleted when the job has ended. */
export const intermediatesPrefix = (jobId: string): string => `jobs/${jobId}/`;
export const sourceKey = (jobId: string): string => `${intermediatesPrefix(jobId)}source`;
/** What was seen and heard in the source: the same for all clips and retries. */
export const analysisKey = (jobId: string): string => `${intermediatesPrefix(jobId)}analysis.json`;
export const planKey = (jobId: string): string => `${intermediatesPrefix(jobId)}plan.json`;
/** While this is there, the intermediates stay: a task of the job is dead and may be driven again. */
export const keptForRedriveKey = (jobId: string): string => `${intermediatesPrefix(jobId)}kept-for-redrive`;

export const resultsPrefix = (jobId: string): string => `results/${jobId}/`;
export const clipKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.mp4`;
export const sheetKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.png`;
/** How the clip ended: written after its other objects and before its event. */
export const outcomeKey = (jobId: string, clipId: number): string => `${resultsPrefix(jobId)}${clipId}.json`;
