import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runLogged } from './logged-command.mjs';
import { withSetupLock } from './setup-lock.mjs';

/**
 * The virtual environments with pinned packages from PyPI: the package that each is named for, the file that
 * pins it, and the commands that use it.
 */
const pythonEnvironments = [
  {
    package: 'yt-dlp',
    requirementsFile: 'infra/sources/yt-dlp-requirements.txt',
    // The commands that fetch from hosting platforms.
    commands: new Set(['setup', 'demo', 'start', 'test', 'hostile']),
    isElsewhere: () => Boolean(process.env.YT_DLP_VENV),
  },
  {
    package: 'schemathesis',
    requirementsFile: 'test/schemathesis/requirements.txt',
    commands: new Set(['test:schemathesis']),
    isElsewhere: () => Boolean(process.env.SCHEMATHESIS),
  },
];

/**
 * Makes those of the virtual environments that `command` uses and that are missing. The folder of each is
 * named for its version and counts only once it is complete.
 *
 * @param {{ command: string, root: string, dataDir: string }} options
 */
export async function bringPythonEnvironmentsInStep({ command, root, dataDir }) {
  for (const environment of pythonEnvironments) {
    if (!environment.commands.has(command) || environment.isElsewhere()) continue;
    const requirementsFile = join(root, environment.requirementsFile);
    await bringInStep({ name: environment.package, requirementsFile, dataDir });
  }
}

async function bringInStep({ name, requirementsFile, dataDir }) {
  const requirements = readFileSync(requirementsFile, 'utf8');
  const version = new RegExp(`^${name}==(\\S+)$`, 'm').exec(requirements)[1];
  const folder = join(dataDir, 'lib', `${name}-${version}`);
  if (isComplete(folder, requirements)) return;
  await withSetupLock(join(dataDir, 'setup.lock'), async () => {
    // Whoever had the lock before us may have done it.
    if (!isComplete(folder, requirements)) await make({ folder, dataDir, requirementsFile, name, version });
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
async function make({ folder, dataDir, requirementsFile, name, version }) {
  const logFile = join(dataDir, 'logs', `${name}.log`);
  rmSync(folder, { recursive: true, force: true });
  await runLogged({
    what: 'making a Python environment',
    command: 'python3',
    args: ['-m', 'venv', folder],
    logFile,
  });
  const pip = ['-m', 'pip', 'install', '--no-input', '--disable-pip-version-check', '--only-binary', ':all:'];
  await runLogged({
    what: `installing ${name} ${version}`,
    command: join(folder, 'bin/python'),
    args: [...pip, '--requirement', requirementsFile],
    logFile,
  });
  copyFileSync(requirementsFile, stampFile(folder));
}
