import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runLogged } from './logged-command.mjs';
import { withSetupLock } from './setup-lock.mjs';

/** The commands that fetch from hosting platforms. */
const commandsThatFetch = new Set(['setup', 'demo', 'start', 'test', 'hostile']);

/**
 * Makes the virtual environment with the pinned yt-dlp where it is missing. Its folder is named for the
 * version and appears only once it is complete.
 *
 * @param {{ command: string, dataDir: string, requirementsFile: string }} options
 */
export async function bringVideoDownloaderInStep({ command, dataDir, requirementsFile }) {
  if (!commandsThatFetch.has(command) || process.env.YT_DLP_VENV) return;
  const requirements = readFileSync(requirementsFile, 'utf8');
  const version = /^yt-dlp==(\S+)$/m.exec(requirements)[1];
  const folder = join(dataDir, 'lib', `yt-dlp-${version}`);
  if (isComplete(folder, requirements)) return;
  await withSetupLock(join(dataDir, 'setup.lock'), async () => {
    // Whoever had the lock before us may have done it.
    if (!isComplete(folder, requirements)) await make({ folder, dataDir, requirementsFile, version });
  });
}

/** The stamp is a copy of what was asked for, and written last. */
function stampFile(folder) {
  return join(folder, 'installed.txt');
}

/** A folder that was copied from elsewhere, or whose Python is gone, has a link that leads nowhere. */
function isComplete(folder, requirements) {
  const stamp = stampFile(folder);
  return (
    existsSync(join(folder, 'bin/python')) &&
    existsSync(stamp) &&
    readFileSync(stamp, 'utf8') === requirements
  );
}

/** Made in its place, since a virtual environment knows its own path; what an interrupted run left is thrown away. */
async function make({ folder, dataDir, requirementsFile, version }) {
  const logFile = join(dataDir, 'logs', 'yt-dlp.log');
  rmSync(folder, { recursive: true, force: true });
  await runLogged({
    what: 'making a Python environment',
    command: 'python3',
    args: ['-m', 'venv', folder],
    logFile,
  });
  const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--only-binary', ':all:'];
  await runLogged({
    what: `installing yt-dlp ${version}`,
    command: join(folder, 'bin/python'),
    args: [...pip, '--requirement', requirementsFile],
    logFile,
  });
  copyFileSync(requirementsFile, stampFile(folder));
}
