import type { Config } from '#infra/config.ts';

/** How long a client does best to wait between two looks at a job: the interface recommends 5 to 10 s. */
const POLL_AFTER_SECONDS = 5;

export type JobPath = '/v1/clip' | '/v1/face-swap';
type Headers = Readonly<Record<string, string>>;

/** The headers of the answer to a create: where the job's status is, and in how many seconds to look. */
export function createdJobHeaders(config: Pick<Config, 'PUBLIC_URL'>, path: JobPath, jobId: string): Headers {
  // Without a public URL the path alone: it is then right by whatever address the client came.
  const base = config.PUBLIC_URL?.replace(/\/+$/, '') ?? '';
  return { location: `${base}${path}/${jobId}`, ...processingHeaders };
}

/** The headers of the status of a job that is not finished yet. */
export const processingHeaders: Headers = { 'retry-after': String(POLL_AFTER_SECONDS) };
