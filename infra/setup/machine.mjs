import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runLogged, SetupFailure } from './logged-command.mjs';
import { findOnPath, isUsable, tools } from './programs.mjs';
import { withSetupLock } from './setup-lock.mjs';

/** What each npm command runs besides Node; commands that are not here need nothing. */
const toolsOfCommand = {
  demo: ['java', 'maven', 'ffmpeg', 'python'],
  start: ['java', 'maven', 'ffmpeg', 'python'],
  test: ['java', 'maven', 'ffmpeg', 'python'],
  faults: ['java', 'maven', 'ffmpeg', 'python'],
  hostile: ['java', 'maven', 'ffmpeg', 'python'],
  'test:schemathesis': ['java', 'maven', 'ffmpeg', 'python'],
  setup: ['java', 'maven', 'ffmpeg', 'python'],
  bench: ['java', 'maven'],
};

/**
 * Looks for what `command` needs on this machine and returns the work that installs what is missing: by
 * apt-get as root on Debian and Ubuntu. Elsewhere it throws at once, naming all that is missing with the
 * command that installs it.
 *
 * @param {{ command: string, dataDir: string, pomFile: string }} options
 * @returns {() => Promise<void>}
 */
export function planMachine({ command, dataDir, pomFile }) {
  const knownFile = join(dataDir, 'setup-programs.json');
  const needed = neededTools(command, join(dataDir, 'lib', librariesName(pomFile)));
  const missing = () => needed.filter((tool) => !isUsable(tool, knownFile));
  const missingNow = missing();
  if (missingNow.length === 0) return async () => {};
  const isRoot = process.getuid?.() === 0;
  if (!isRoot || findOnPath('apt-get') === undefined) {
    throw new SetupFailure(describeMissing(missingNow, isRoot));
  }
  return async () => {
    await withSetupLock(join(dataDir, 'setup-programs.lock'), () =>
      installByApt(missing(), join(dataDir, 'logs', 'apt-get.log')),
    );
    const stillMissing = missing();
    if (stillMissing.length > 0) throw new SetupFailure(describeMissing(stillMissing, isRoot));
  };
}

/** Parts that are replaced by an address need no program here, and Maven has done its work once the jars are there. */
function neededTools(command, librariesFolder) {
  const { KAFKA_BROKERS, S3_ENDPOINT, FFMPEG_PATH, FFPROBE_PATH } = process.env;
  const runsJava = command === 'test' || !KAFKA_BROKERS || !S3_ENDPOINT;
  return (toolsOfCommand[command] ?? []).filter((tool) => {
    if (tool === 'java') return runsJava;
    if (tool === 'maven') return command === 'test' || (runsJava && !existsSync(librariesFolder));
    if (tool === 'ffmpeg') return !(FFMPEG_PATH && FFPROBE_PATH);
    return true;
  });
}

/** The name under which the embedded stack keeps the jars of this pom. */
function librariesName(pomFile) {
  return createHash('sha256').update(readFileSync(pomFile)).digest('hex').slice(0, 12);
}

async function installByApt(missing, logFile) {
  if (missing.length === 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const waitForLock = ['-o', 'DPkg::Lock::Timeout=300'];
  const names = missing.map((tool) => tools[tool].name).join(', ');
  await runLogged({
    what: 'reading the package lists',
    command: 'apt-get',
    args: [...waitForLock, 'update', '-q'],
    logFile,
    env,
  });
  const packages = missing.flatMap((tool) => (tool === 'java' ? [newestJavaPackage()] : tools[tool].apt));
  await runLogged({
    what: `installing ${names}`,
    command: 'apt-get',
    args: [...waitForLock, 'install', '-y', '-q', '--no-install-recommends', ...packages],
    logFile,
    env,
  });
}

/** Distributions carry different versions: 17 where it is there, else the next long-lived one. */
function newestJavaPackage() {
  const candidates = [17, 21, 25].map((version) => `openjdk-${version}-jre-headless`);
  const isOffered = (name) => {
    try {
      return execFileSync('apt-cache', ['show', name], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
    } catch {
      return false;
    }
  };
  return candidates.find(isOffered) ?? 'default-jre-headless';
}

/** All that is missing at once, and one command that installs it. */
function describeMissing(missing, isRoot) {
  const lines = missing.map((tool) => `  ${tools[tool].name}: ${tools[tool].purpose}`);
  const command = installCommand(missing, isRoot);
  const advice =
    command === undefined
      ? 'Install them and run the command again.'
      : `This installs them:\n\n  ${command}\n`;
  return `Missing on this machine:\n${lines.join('\n')}\n\n${advice}`;
}

function installCommand(missing, isRoot) {
  const sudo = isRoot ? '' : 'sudo ';
  const packages = (manager) => missing.flatMap((tool) => tools[tool][manager]).join(' ');
  if (findOnPath('apt-get') !== undefined) {
    return `${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages('apt')}`;
  }
  if (findOnPath('brew') !== undefined || process.platform === 'darwin')
    return `brew install ${packages('brew')}`;
  if (findOnPath('dnf') !== undefined) return `${sudo}dnf install -y ${packages('dnf')}`;
  if (findOnPath('pacman') !== undefined) return `${sudo}pacman -S --needed ${packages('pacman')}`;
  return undefined;
}
