import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

/** Absolute paths of the programs that all media work runs, found once at start. */
export type MediaTools = {
  readonly ffmpegPath: string;
  readonly ffprobePath: string;
  /** util-linux; where they are missing (macOS), memory is not limited and orphans end by themselves. */
  readonly prlimitPath: string | undefined;
  readonly setprivPath: string | undefined;
};

/** ffmpeg or ffprobe is not on this machine: `message` says how to get it. */
export class MediaToolsMissing extends Error {
  override readonly name = 'MediaToolsMissing';
}

type ToolSettings = {
  readonly FFMPEG_PATH?: string | undefined;
  readonly FFPROBE_PATH?: string | undefined;
};

/**
 * Finds ffmpeg and ffprobe: the operator's setting first, then the binary of the `ffmpeg-static`
 * package where its installation brought one, then PATH (`searchPath`, as in the environment).
 * Throws `MediaToolsMissing` naming what is not there.
 */
export async function locateMediaTools(settings: ToolSettings, searchPath: string): Promise<MediaTools> {
  const [ffmpegPath, ffprobePath, prlimitPath, setprivPath] = await Promise.all([
    configuredOr(settings.FFMPEG_PATH, 'FFMPEG_PATH', [bundledFfmpeg(), ...onPath('ffmpeg', searchPath)]),
    configuredOr(settings.FFPROBE_PATH, 'FFPROBE_PATH', onPath('ffprobe', searchPath)),
    firstExecutable(onPath('prlimit', searchPath)),
    firstExecutable(onPath('setpriv', searchPath)),
  ]);
  if (ffmpegPath === undefined || ffprobePath === undefined) {
    const missing = [ffmpegPath === undefined ? 'ffmpeg' : '', ffprobePath === undefined ? 'ffprobe' : ''];
    throw new MediaToolsMissing(
      `${missing.filter((name) => name !== '').join(' and ')} not found: install ffmpeg ` +
        '(on Debian and Ubuntu: apt-get install ffmpeg) or set FFMPEG_PATH and FFPROBE_PATH.',
    );
  }
  return Object.freeze({ ffmpegPath, ffprobePath, prlimitPath, setprivPath });
}

/** A path that was set but does not run is a mistake to report, not to paper over. */
async function configuredOr(
  configured: string | undefined,
  setting: string,
  candidates: readonly (string | undefined)[],
): Promise<string | undefined> {
  if (configured === undefined) return firstExecutable(candidates);
  const found = await firstExecutable([configured]);
  if (found === undefined)
    throw new MediaToolsMissing(`${setting} is ${configured}, which is not an executable file.`);
  return found;
}

/** `ffmpeg-static` is optional: its installation downloads a binary, which fails behind many firewalls. */
function bundledFfmpeg(): string | undefined {
  try {
    const path: unknown = createRequire(import.meta.url)('ffmpeg-static');
    return typeof path === 'string' ? path : undefined;
  } catch {
    return undefined;
  }
}

function onPath(program: string, searchPath: string): string[] {
  return searchPath
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program));
}

async function firstExecutable(candidates: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    const usable = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return candidate;
  }
  return undefined;
}
