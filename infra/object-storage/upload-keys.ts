/** Where a job's uploaded files are: the API writes them, the workers delete them when the job has ended. */

export const uploadsPrefix = (jobId: string): string => `uploads/${jobId}/`;
export const uploadKey = (jobId: string, field: string): string => `${uploadsPrefix(jobId)}${field}`;
