import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { bareHost, type EgressAllow } from '../egress/forbidden-url.ts';
import { ProcessFailed, runLimited } from '../media/limited-process.ts';
import type { MediaTools } from '../media/media-tools.ts';
import { tidyUrl } from './describe-platform-video.ts';
import { PlatformFailure } from './platform-failure.ts';
import type { YtDlp } from './yt-dlp.ts';

export type PlatformUrls = {
  /** True when yt-dlp knows the site and the kind of page; everything else is a direct link. */
  isPlatformUrl(url: string, signal: AbortSignal): Promise<boolean>;
};

type AskedPrograms = { readonly tools: MediaTools; readonly ytDlp: YtDlp; readonly allow: EgressAllow };

const script = fileURLToPath(new URL('is_platform_url.py', import.meta.url));
const answerLimitMs = 30_000;
const memoryBytes = 512 * 1024 ** 2;
const rememberedUrls = 1_000;

/**
 * Decides which URLs go to yt-dlp, by asking yt-dlp itself (its patterns are the only list that is right): no
 * network, about half a second, remembered for the last thousand URLs.
 */
export function platformUrls(programs: AskedPrograms): PlatformUrls {
  const remembered = new Map<string, boolean>();
  return {
    isPlatformUrl: async (url, signal) => {
      const tidy = new URL(tidyUrl(url, programs.allow));
      tidy.hash = '';
      // No platform is known by an address: links within a network of one's own need no Python.
      if (isIP(bareHost(tidy)) !== 0) return false;
      const known = remembered.get(tidy.href);
      if (known !== undefined) return known;
      const answer = await askExtractors(tidy.href, programs, signal);
      const [oldest] = remembered.keys();
      if (remembered.size >= rememberedUrls && oldest !== undefined) remembered.delete(oldest);
      remembered.set(tidy.href, answer);
      return answer;
    },
  };
}

const wellKnownPlatforms = [
  'youtube.com',
  'youtu.be',
  'vimeo.com',
  'dailymotion.com',
  'twitch.tv',
  'tiktok.com',
  'instagram.com',
  'facebook.com',
  'x.com',
  'twitter.com',
];

/**
 * Stands in where there is no yt-dlp to ask: the best known sites only, so that their pages are answered with
 * the true reason instead of "not a video".
 */
export function wellKnownPlatformUrls(allow: EgressAllow): PlatformUrls {
  return {
    isPlatformUrl: async (url) => {
      const host = bareHost(new URL(tidyUrl(url, allow)));
      return wellKnownPlatforms.some((platform) => host === platform || host.endsWith(`.${platform}`));
    },
  };
}

async function askExtractors(url: string, programs: AskedPrograms, signal: AbortSignal): Promise<boolean> {
  const pieces: Buffer[] = [];
  try {
    await runLimited({
      tools: programs.tools,
      program: programs.ytDlp.pythonPath,
      args: ['-I', script, url],
      cwd: tmpdir(),
      env: { YTDLP_NO_PLUGINS: '1', PATH: '/nonexistent' },
      limits: { wallMs: answerLimitMs, memory: { kind: 'data', bytes: memoryBytes }, fileBytes: 0 },
      signal,
      onStdout: (piece) => void (pieces.length < 8 && pieces.push(piece)),
    });
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    throw new PlatformFailure('TOOL_BROKEN', 'The downloader for hosting platforms crashed.', {
      cause: error,
      detail: error.stderrTail,
    });
  }
  return Buffer.concat(pieces).length > 0;
}
