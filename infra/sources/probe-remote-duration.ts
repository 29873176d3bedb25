import { join } from 'node:path';
import type { Resolve } from '../egress/checked-address.ts';
import { EgressFailure } from '../egress/egress-failure.ts';
import { explainFailure } from '../egress/explain-failure.ts';
import { fetchToFile } from '../egress/fetch-to-file.ts';
import type { EgressAllow } from '../egress/forbidden-url.ts';
import { MediaFailure } from '../media/media-failure.ts';
import type { MediaTools } from '../media/media-tools.ts';
import type { ProbeContext } from '../media/probe.ts';
import { sniff } from '../media/sniff.ts';
import { headerVideoDuration, videoDuration } from '../media/video-duration.ts';
import { withRangeServer } from './range-server.ts';
import { RemoteFile } from './remote-file.ts';

export type RemoteDurationProbe = {
  /** A direct link to a video file. */
  readonly url: string;
  readonly allow: EgressAllow;
  readonly tools: MediaTools;
  /** An existing folder for this probe alone; the caller removes it afterwards. */
  readonly folder: string;
  /** The largest video that is accepted, and the most that is fetched where the server knows no ranges. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly resolve?: Resolve;
};

const idleTimeoutMs = 10_000;
/** The headers of a four-hour film take about 20 MB. */
const maxHeaderBytes = 64 * 1024 ** 2;

/**
 * How long the video at a direct link plays, in milliseconds, by range requests for its headers alone. Where
 * the server knows no ranges, or the headers do not say, the file is fetched, within `maxBytes`. Throws
 * `EgressFailure` or `MediaFailure`, each with a sentence for the client.
 */
export async function probeRemoteDuration(probe: RemoteDurationProbe): Promise<number> {
  const limit = AbortSignal.timeout(probe.timeoutMs);
  const within = { ...probe, signal: AbortSignal.any([limit, probe.signal]) };
  try {
    return (await durationByRanges(within)) ?? (await durationOfWhole(within));
  } catch (error) {
    if (error instanceof MediaFailure && !limit.aborted) throw error;
    if (limit.aborted && !probe.signal.aborted) throw overTime(probe, error);
    throw explainFailure(error, { ...probe, what: 'video', timedOut: false });
  }
}

async function durationByRanges(probe: RemoteDurationProbe): Promise<number | undefined> {
  const file = await RemoteFile.open({
    ...probe,
    what: 'video',
    idleTimeoutMs,
    cachePath: join(probe.folder, 'ranges'),
    maxReadBytes: Math.min(maxHeaderBytes, probe.maxBytes),
  });
  if (file === undefined) return undefined;
  try {
    const type = sniff((await file.read(0)).subarray(0, 4096));
    return await withRangeServer(file, (url) =>
      headerVideoDuration({ url, protocols: 'http,tcp', type }, contextOf(probe)),
    );
  } catch (error) {
    // More than headers and an end had to be read: then the whole says it, within its own limit.
    if (error instanceof EgressFailure && error.code === 'TOO_LARGE') return undefined;
    throw error;
  } finally {
    await file.close();
  }
}

async function durationOfWhole(probe: RemoteDurationProbe): Promise<number> {
  const path = join(probe.folder, 'whole');
  await fetchToFile({ ...probe, path, what: 'video', idleTimeoutMs });
  return videoDuration(path, contextOf(probe));
}

function contextOf(probe: RemoteDurationProbe): ProbeContext {
  return { tools: probe.tools, taskFolder: probe.folder, signal: probe.signal };
}

function overTime(probe: RemoteDurationProbe, cause: unknown): EgressFailure {
  const seconds = Math.round(probe.timeoutMs / 1000);
  return new EgressFailure(
    'TIME_LIMIT',
    `Finding out the video's length took longer than ${seconds} s.`,
    cause,
  );
}
