import type { Config } from '../config.ts';
import { type EgressProxy, startEgressProxy } from '../egress/egress-proxy.ts';
import type { EgressAllow } from '../egress/forbidden-url.ts';
import type { Logger } from '../log.ts';
import { locateMediaTools, type MediaTools } from '../media/media-tools.ts';
import { PlatformFailure } from './platform-failure.ts';
import { type PlatformUrls, platformUrls, wellKnownPlatformUrls } from './platform-urls.ts';
import type { PlatformContext } from './run-yt-dlp.ts';
import { locateYtDlp, type YtDlp, YtDlpMissing } from './yt-dlp.ts';

/** All that a process needs to reach strangers' videos: opened once at its start, closed at its end. */
export type SourceAccess = {
  readonly tools: MediaTools;
  /** Undefined where this machine has none: direct links work, hosting platforms do not. */
  readonly ytDlp: YtDlp | undefined;
  /** The one way out for programs that are not ours. */
  readonly proxy: EgressProxy;
  /** Tells hosting platforms' pages from direct links. */
  readonly urls: PlatformUrls;
  /** Exceptions of the egress guard (`EGRESS_ALLOW`). */
  readonly allow: EgressAllow;
  close(): Promise<void>;
};

type SourceSettings = Pick<Config, 'EGRESS_ALLOW' | 'FFMPEG_PATH' | 'FFPROBE_PATH' | 'YT_DLP_VENV' | 'PATH'>;

/**
 * Finds the programs and starts the egress proxy. Throws `MediaToolsMissing` where there is no ffmpeg; a
 * missing yt-dlp is only logged, since a service of direct links does not need it.
 */
export async function openSourceAccess(settings: SourceSettings, log: Logger): Promise<SourceAccess> {
  const allow = settings.EGRESS_ALLOW;
  const tools = await locateMediaTools(settings, settings.PATH);
  const ytDlp = await locateYtDlp(settings).catch((error: unknown) => {
    if (!(error instanceof YtDlpMissing)) throw error;
    log.warn({ reason: error.message }, 'Videos of hosting platforms cannot be fetched: yt-dlp is missing.');
    return undefined;
  });
  const proxy = await startEgressProxy({ allow });
  const urls = ytDlp === undefined ? wellKnownPlatformUrls(allow) : platformUrls({ tools, ytDlp, allow });
  return { tools, ytDlp, proxy, urls, allow, close: () => proxy.close() };
}

/**
 * What `describePlatformVideo` and `fetchPlatformVideo` need for one piece of work; `folder` belongs to it
 * alone. Throws `PlatformFailure` (`NOT_SET_UP`) where there is no yt-dlp.
 */
export function platformContext(
  sources: Pick<SourceAccess, 'tools' | 'ytDlp' | 'proxy' | 'allow'>,
  work: Pick<PlatformContext, 'folder' | 'signal'>,
): PlatformContext {
  const { tools, ytDlp, proxy, allow } = sources;
  if (ytDlp === undefined) {
    throw new PlatformFailure(
      'NOT_SET_UP',
      'This service cannot fetch from hosting platforms at present; give a direct link to a video file.',
    );
  }
  return { tools, ytDlp, proxy, allow, ...work };
}
