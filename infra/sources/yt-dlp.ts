import { access, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The virtual environment with yt-dlp that the set-up makes. */
export type YtDlp = {
  /** Its own Python: the program that is started. */
  readonly pythonPath: string;
};

/** yt-dlp is not on this machine: `message` says how to get it. */
export class YtDlpMissing extends Error {
  override readonly name = 'YtDlpMissing';
}

type YtDlpSettings = {
  /** A virtual environment made elsewhere, for example in an image. */
  readonly YT_DLP_VENV?: string | undefined;
};

/** Where the set-up puts what it makes, wherever the service's data lie. */
const librariesFolder = fileURLToPath(new URL('../../.data/lib', import.meta.url));
const requirements = new URL('yt-dlp-requirements.txt', import.meta.url);

/** Finds the virtual environment with the pinned yt-dlp. Throws `YtDlpMissing`. */
export async function locateYtDlp(settings: YtDlpSettings): Promise<YtDlp> {
  const folder = resolve(settings.YT_DLP_VENV ?? join(librariesFolder, await environmentName()));
  const pythonPath = join(folder, 'bin', 'python');
  const present = await access(pythonPath).then(
    () => true,
    () => false,
  );
  if (present) return Object.freeze({ pythonPath });
  throw new YtDlpMissing(`There is no yt-dlp in ${folder}: run \`npm run setup\`, or set YT_DLP_VENV.`);
}

/** `yt-dlp-<version>`: another pinned version is another folder. */
async function environmentName(): Promise<string> {
  const version = /^yt-dlp==(\S+)$/m.exec(await readFile(requirements, 'utf8'))?.[1];
  if (version === undefined) throw new Error('yt-dlp-requirements.txt pins no version of yt-dlp');
  return `yt-dlp-${version}`;
}
