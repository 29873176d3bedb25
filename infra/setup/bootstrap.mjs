/**
 * Runs before every npm command, also on a fresh clone where nothing is installed: brings node_modules
 * in step with package-lock.json and looks for the programs that the command needs. Plain JavaScript
 * without dependencies, since it runs before there are any; Node 20 will do. It speaks on stderr only,
 * and says nothing (in well under 100 ms) when nothing is to do.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SetupFailure } from './logged-command.mjs';
import { planMachine } from './machine.mjs';
import { bringPackagesInStep } from './packages.mjs';
import { bringPythonEnvironmentsInStep } from './python-environment.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The npm command that this run precedes: `predemo` → `demo`; everything when run by hand. */
const command = (process.env.npm_lifecycle_event ?? 'setup').replace(/^pre/, '');

const lowestNodeVersion = 20;

if (process.argv.includes('--help')) {
  process.stderr.write(
    'Usage: npm run setup\n\nInstalls the npm packages and yt-dlp, and looks for Java, Maven, ffmpeg and Python.\n',
  );
} else {
  try {
    checkNodeVersion();
    const dataDir = join(root, '.data');
    const installPrograms = planMachine({ command, dataDir, pomFile: join(root, 'infra/embedded/pom.xml') });
    // Side by side: one waits for package servers while the other unpacks.
    const outcomes = await Promise.allSettled([installPrograms(), bringPackagesInStep({ root, dataDir })]);
    const failure = outcomes.find(({ status }) => status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    await bringPythonEnvironmentsInStep({ command, root, dataDir });
  } catch (error) {
    if (!(error instanceof SetupFailure)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  }
}

function checkNodeVersion() {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= lowestNodeVersion) return;
  throw new SetupFailure(
    `Node ${process.versions.node} is too old: install Node ${lowestNodeVersion} or newer.`,
  );
}
