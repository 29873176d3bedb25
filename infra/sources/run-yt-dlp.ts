import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EgressProxy, EgressSession } from '../egress/egress-proxy.ts';
import type { EgressAllow } from '../egress/forbidden-url.ts';
import { ProcessFailed, runLimited } from '../media/limited-process.ts';
import { MediaFailure } from '../media/media-failure.ts';
import type { MediaTools } from '../media/media-tools.ts';
import { explainYtDlp } from './explain-yt-dlp.ts';
import { PlatformFailure } from './platform-failure.ts';
import type { YtDlp } from './yt-dlp.ts';

/** What every run of yt-dlp needs; made once at start, but for the folder and the signal. */
export type PlatformContext = {
  readonly tools: MediaTools;
  readonly ytDlp: YtDlp;
  readonly proxy: EgressProxy;
  /** Exceptions of the guard, the same as the proxy's. */
  readonly allow: EgressAllow;
  /** An existing folder for this alone; the caller removes it afterwards. */
  readonly folder: string;
  readonly signal: AbortSignal;
};

export type YtDlpRun = {
  readonly context: PlatformContext;
  /** Ours alone; a stranger's URL is the last, behind `--`. */
  readonly args: readonly string[];
  readonly wallMs: number;
  /** What may come over the network and lie in the folder. */
  readonly maxBytes: number;
  readonly maxOutputBytes: number;
  readonly onBytes?: (bytes: number) => void;
};

const memoryBytes = 1024 ** 3;
const watchMs = 250;
/** Pages, manifests and headers come on top of what is kept. */
const overheadBytes = 64 * 1024 ** 2;
const maxConnections = 16;
const idleMs = 30_000;

/** Options of every run: nothing from outside, no program but Node without a network, one video, few retries. */
const fixedArguments: readonly string[] = [
  '--ignore-config',
  '--no-cache-dir',
  '--no-cookies',
  '--no-js-runtimes',
  ...['--js-runtimes', `node:${fileURLToPath(new URL('offline-node.sh', import.meta.url))}`],
  '--no-remote-components',
  ...['--ffmpeg-location', '/nonexistent'],
  ...['--use-extractors', 'default,-generic'],
  ...['--default-search', 'error'],
  '--no-playlist',
  ...['--playlist-items', '1'],
  '--flat-playlist',
  '--no-wait-for-video',
  ...['--xff', 'never'],
  ...['--socket-timeout', '15'],
  ...['--retries', '3'],
  ...['--fragment-retries', '3'],
  ...['--extractor-retries', '1'],
  '--abort-on-unavailable-fragments',
  ...['--downloader', 'native'],
  '--no-colors',
  '--no-progress',
  '--no-mtime',
  '--no-write-comments',
  ...['--fixup', 'never'],
];

/**
 * Runs yt-dlp in a process of its own, within limits, with no way out but a session of the egress proxy, and
 * watches what it writes. Returns its standard output; throws `PlatformFailure`.
 */
export async function runYtDlp(run: YtDlpRun): Promise<Buffer> {
  const { context } = run;
  const session = context.proxy.openSession({
    maxConnections,
    maxBytes: run.maxBytes + overheadBytes,
    idleMs,
    wallMs: run.wallMs,
  });
  const watch = watchFolder(run);
  const output = boundedOutput(run.maxOutputBytes, () => watch.stop('TOO_LARGE'));
  try {
    await runLimited({
      tools: context.tools,
      program: context.ytDlp.pythonPath,
      // Isolated: neither the folder it runs in nor its environment may add modules.
      args: ['-I', '-m', 'yt_dlp', ...fixedArguments, ...run.args],
      cwd: context.folder,
      env: environment(session),
      limits: { wallMs: run.wallMs, memory: { kind: 'data', bytes: memoryBytes }, fileBytes: run.maxBytes },
      signal: AbortSignal.any([context.signal, watch.signal]),
      onStdout: output.onStdout,
    });
    return output.bytes();
  } catch (error) {
    throw explain(error, run, session, watch.stoppedBy());
  } finally {
    watch.end();
    session.close();
  }
}

function environment(session: EgressSession): Record<string, string> {
  const { proxyUrl } = session;
  return {
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    ftp_proxy: proxyUrl,
    all_proxy: proxyUrl,
    no_proxy: '',
    YTDLP_NO_PLUGINS: '1',
    PYTHONIOENCODING: 'utf-8',
    // No program of the machine is to be found: not ffmpeg, not a browser.
    PATH: '/nonexistent',
    OFFLINE_NODE: process.execPath,
  };
}

function explain(
  error: unknown,
  run: YtDlpRun,
  session: EgressSession,
  stoppedBy: 'TOO_LARGE' | undefined,
): unknown {
  const about = { cause: error };
  if (run.context.signal.aborted) return new PlatformFailure('ABORTED', 'The work was stopped.', about);
  if (stoppedBy === 'TOO_LARGE' || session.endedBy === 'TOO_MANY_BYTES') return tooLarge(run.maxBytes, error);
  if (error instanceof MediaFailure && error.code === 'TIME_LIMIT') {
    const seconds = Math.round(run.wallMs / 1000);
    return new PlatformFailure(
      'TIME_LIMIT',
      `Fetching from the platform took longer than ${seconds} s.`,
      about,
    );
  }
  if (error instanceof MediaFailure) return new PlatformFailure('TOOL_BROKEN', error.message, about);
  if (!(error instanceof ProcessFailed)) return error;
  const forbidden = session.refused.find(({ code }) => code === 'FORBIDDEN');
  if (forbidden !== undefined) {
    return new PlatformFailure(
      'FORBIDDEN',
      `The video may not be fetched: its page leads to ${forbidden.host}, which is not on the public internet.`,
      about,
    );
  }
  if (/File too large|File size limit exceeded/.test(error.stderrTail)) return tooLarge(run.maxBytes, error);
  return explainYtDlp(error.stderrTail, error);
}

/** The failure of a video that is larger than its limit. */
export function tooLarge(maxBytes: number, cause?: unknown): PlatformFailure {
  const megabytes = Math.floor(maxBytes / 1_000_000);
  return new PlatformFailure('TOO_LARGE', `The video is larger than the limit of ${megabytes} MB.`, {
    cause,
  });
}

type FolderWatch = {
  readonly signal: AbortSignal;
  stop(by: 'TOO_LARGE'): void;
  stoppedBy(): 'TOO_LARGE' | undefined;
  end(): void;
};

/** yt-dlp's own size limit holds for one fragment only: the folder's bytes are what counts. */
function watchFolder(run: YtDlpRun): FolderWatch {
  const stopped = new AbortController();
  let stoppedBy: 'TOO_LARGE' | undefined;
  const stop = (by: 'TOO_LARGE') => {
    stoppedBy ??= by;
    stopped.abort();
  };
  const look = async () => {
    const bytes = await folderBytes(run.context.folder);
    run.onBytes?.(bytes);
    if (bytes > run.maxBytes) stop('TOO_LARGE');
  };
  const timer = setInterval(() => void look().catch(() => undefined), watchMs);
  return { signal: stopped.signal, stop, stoppedBy: () => stoppedBy, end: () => clearInterval(timer) };
}

async function folderBytes(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map((name) =>
    // A part that was just joined to the whole is gone.
    stat(join(folder, name)).then(
      (found) => found.size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
}

function boundedOutput(maxBytes: number, onOverflow: () => void) {
  const pieces: Buffer[] = [];
  let bytes = 0;
  return {
    onStdout: (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBytes) pieces.push(piece);
      else onOverflow();
    },
    bytes: () => Buffer.concat(pieces),
  };
}
