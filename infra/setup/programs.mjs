import { execFileSync } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

const lowestJavaVersion = 17;
const checkLimitMs = 30_000;

/**
 * The programs that the set-up looks for: their names for people, what they are for, the packages that
 * bring them, the executables, and a check where being there is not enough.
 */
export const tools = {
  java: {
    name: `Java ${lowestJavaVersion} or newer`,
    purpose: 'runs the embedded Apache Kafka and S3Proxy',
    executables: ['java'],
    check: (path) => javaVersion(path) >= lowestJavaVersion,
    apt: ['openjdk-17-jre-headless'],
    brew: ['openjdk'],
    dnf: ['java-21-openjdk-headless'],
    pacman: ['jre21-openjdk-headless'],
  },
  maven: {
    name: 'Maven',
    purpose: 'fetches the jars of Apache Kafka and S3Proxy, once',
    executables: ['mvn'],
    check: () => true,
    apt: ['maven'],
    brew: ['maven'],
    dnf: ['maven'],
    pacman: ['maven'],
  },
  ffmpeg: {
    name: 'ffmpeg with ffprobe',
    purpose: 'reads and renders videos',
    executables: ['ffmpeg', 'ffprobe'],
    check: () => true,
    apt: ['ffmpeg'],
    brew: ['ffmpeg'],
    dnf: ['ffmpeg'],
    pacman: ['ffmpeg'],
  },
  python: {
    name: 'Python 3 with venv',
    purpose: 'runs the downloader of video pages, and schemathesis',
    executables: ['python3'],
    check: (path) => runs(path, ['-c', 'import venv, ensurepip']),
    apt: ['python3', 'python3-venv'],
    brew: ['python'],
    dnf: ['python3'],
    pacman: ['python'],
  },
};

/**
 * Whether `tool` is on PATH and good. Checks that run a program are remembered in `knownFile` by the
 * program's path and date, since starting Java alone takes longer than all the rest.
 */
export function isUsable(tool, knownFile) {
  const paths = tools[tool].executables.map(findOnPath);
  if (paths.some((path) => path === undefined)) return false;
  const identity = paths.map((path) => `${path} ${statSync(path).mtimeMs}`).join(' ');
  const known = readKnown(knownFile);
  if (known[tool] === identity) return true;
  if (!tools[tool].check(paths[0])) return false;
  mkdirSync(dirname(knownFile), { recursive: true });
  writeFileSync(knownFile, `${JSON.stringify({ ...known, [tool]: identity }, null, 2)}\n`);
  return true;
}

/** The executable that a shell would run for `name`, links resolved. */
export function findOnPath(name) {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return realpathSync(path);
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

function readKnown(knownFile) {
  try {
    return JSON.parse(readFileSync(knownFile, 'utf8'));
  } catch {
    return {};
  }
}

/** The major version that `java --version` begins with; 0 when it does not run. */
function javaVersion(path) {
  try {
    const answer = execFileSync(path, ['--version'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: checkLimitMs,
    });
    return Number(/^\S+ (\d+)/.exec(answer)?.[1] ?? 0);
  } catch {
    return 0; // Java 8 does not know --version, and macOS has a `java` that only says where to get one.
  }
}

function runs(path, args) {
  try {
    execFileSync(path, args, { stdio: 'ignore', timeout: checkLimitMs });
    return true;
  } catch {
    return false;
  }
}
