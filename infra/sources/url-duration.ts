import { EgressFailure } from '../egress/egress-failure.ts';
import { describePlatformVideo } from './describe-platform-video.ts';
import { probeRemoteDuration } from './probe-remote-duration.ts';
import { platformContext, type SourceAccess } from './source-access.ts';

export type UrlDurationProbe = {
  readonly url: string;
  readonly sources: SourceAccess;
  /** An existing folder for this probe alone; the caller removes it afterwards. */
  readonly folder: string;
  /** The largest video that is accepted at a direct link. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/**
 * How long the video at a URL plays, in milliseconds, wherever it is: at a direct link by its own headers, on a
 * hosting platform by what the platform says, which is null on some. Throws `EgressFailure`, `MediaFailure` or
 * `PlatformFailure`, each with a sentence for the client.
 */
export async function urlDuration(probe: UrlDurationProbe): Promise<number | null> {
  const limit = AbortSignal.timeout(probe.timeoutMs);
  try {
    return await durationWithin({ ...probe, signal: AbortSignal.any([limit, probe.signal]) });
  } catch (error) {
    if (!limit.aborted || probe.signal.aborted) throw error;
    const seconds = Math.round(probe.timeoutMs / 1_000);
    const sentence = `Finding out the video's length took longer than ${seconds} s.`;
    throw new EgressFailure('TIME_LIMIT', sentence, error);
  }
}

async function durationWithin(probe: UrlDurationProbe): Promise<number | null> {
  const { url, sources, timeoutMs, folder, signal } = probe;
  if (!(await sources.urls.isPlatformUrl(url, signal)))
    return probeRemoteDuration({ ...probe, allow: sources.allow, tools: sources.tools });
  const question = { url, timeoutMs, maxDurationMs: Number.MAX_SAFE_INTEGER };
  const video = await describePlatformVideo(question, platformContext(sources, { folder, signal }));
  return video.durationMs;
}
