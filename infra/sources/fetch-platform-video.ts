import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  describePlatformVideo,
  type PlatformQuestion,
  type PlatformVideo,
} from './describe-platform-video.ts';
import { joinStreams } from './join-streams.ts';
import { PlatformFailure } from './platform-failure.ts';
import { type PlatformContext, runYtDlp, tooLarge } from './run-yt-dlp.ts';

export type PlatformFetch = PlatformQuestion & {
  /** A new file. */
  readonly path: string;
  readonly maxBytes: number;
  /** Bytes in the folder so far; the platform's word on the whole is not trusted. */
  readonly onProgress?: (bytes: number) => void;
};

const describeLimitMs = 60_000;
const infoFile = 'info.json';

/**
 * Fetches one finished video of at most 1080p from a hosting platform, within limits of length, size and time.
 * yt-dlp downloads; what comes as picture and sound apart is joined by our own ffmpeg. Throws `PlatformFailure`
 * or, for what cannot be joined, `MediaFailure`.
 */
export async function fetchPlatformVideo(
  fetch: PlatformFetch,
  outer: PlatformContext,
): Promise<Omit<PlatformVideo, 'infoJson'>> {
  const folder = await mkdtemp(join(outer.folder, 'platform-'));
  const context = { ...outer, folder };
  const deadline = Date.now() + fetch.timeoutMs;
  try {
    const timeoutMs = Math.min(describeLimitMs, fetch.timeoutMs);
    const { infoJson, ...video } = await describePlatformVideo({ ...fetch, timeoutMs }, context);
    await writeFile(join(folder, infoFile), infoJson);
    const parts: string[] = [];
    for (const formatId of video.formatIds) {
      const part = join(folder, `part-${parts.length}`);
      await downloadFormat(fetch, context, {
        formatId,
        part,
        wallMs: Math.max(1_000, deadline - Date.now()),
      });
      parts.push(part);
    }
    await keepOrJoin(parts, fetch, context);
    return video;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function downloadFormat(
  fetch: PlatformFetch,
  context: PlatformContext,
  download: { formatId: string; part: string; wallMs: number },
): Promise<void> {
  await runYtDlp({
    context,
    args: [
      ...['--load-info-json', infoFile],
      ...['--format', quotedId(download.formatId)],
      ...['--output', download.part.replaceAll('%', '%%')],
    ],
    wallMs: download.wallMs,
    maxBytes: fetch.maxBytes,
    maxOutputBytes: 1024 * 1024,
    ...(fetch.onProgress === undefined ? {} : { onBytes: fetch.onProgress }),
  });
  const found = await stat(download.part).catch(() => undefined);
  if (found === undefined || found.size === 0) {
    throw new PlatformFailure('UNREADABLE', 'The platform gave no data for the video.');
  }
}

/** A format's id is the platform's text: as a filter's value it cannot be read as an expression. */
function quotedId(formatId: string): string {
  if (!/^[\w .:+@~-]+$/.test(formatId)) {
    throw new PlatformFailure('UNREADABLE', 'The platform’s answer about the video makes no sense.');
  }
  return `all[format_id='${formatId}']`;
}

async function keepOrJoin(
  parts: readonly string[],
  fetch: PlatformFetch,
  context: PlatformContext,
): Promise<void> {
  const joined = await joinStreams({ ...context, parts });
  const { size } = await stat(joined);
  if (size > fetch.maxBytes) throw tooLarge(fetch.maxBytes);
  await rename(joined, fetch.path);
}
