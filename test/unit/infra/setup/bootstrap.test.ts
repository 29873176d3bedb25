import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

/**
 * The set-up is run as npm runs it, on a copy of the files it reads, with a PATH on which only those
 * programs exist that a test puts there.
 */

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
let checkout: string;
let programs: string;

beforeEach(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'setup-'));
  programs = join(checkout, 'programs');
  await mkdir(join(checkout, 'infra/embedded'), { recursive: true });
  await mkdir(programs);
  await cp(join(repository, 'infra/setup'), join(checkout, 'infra/setup'), { recursive: true });
  await cp(join(repository, 'infra/embedded/pom.xml'), join(checkout, 'infra/embedded/pom.xml'));
  await writeFile(join(checkout, 'package.json'), '{"name": "x"}');
  await writeFile(
    join(checkout, 'package-lock.json'),
    '{"packages": {"node_modules/a": {"version": "1.0.0"}}}',
  );
  await symlink('/bin/sh', join(programs, 'sh'));
});

afterEach(() => rm(checkout, { recursive: true }));

/** A program that notes its arguments in `calls` and then does what `script` says. */
async function putProgram(name: string, script = ''): Promise<void> {
  const text = `#!/bin/sh\necho "${name} $@" >> ${join(checkout, 'calls')}\n${script}\n`;
  await writeFile(join(programs, name), text, { mode: 0o755 });
}

async function putAllPrograms(): Promise<void> {
  for (const name of ['mvn', 'ffmpeg', 'ffprobe', 'python3']) await putProgram(name);
  await putProgram('java', 'echo openjdk 17.0.15 2025-04-15');
}

/** An npm that leaves behind what a complete installation does. */
const npmThatInstalls = `
PATH=/usr/bin:/bin
mkdir -p node_modules/node/bin node_modules/.bin
touch node_modules/node/bin/node
cp package-lock.json node_modules/.package-lock.json`;

async function calls(): Promise<string[]> {
  const text = await readFile(join(checkout, 'calls'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

function setUp(command: string, env: Record<string, string> = {}) {
  const result = spawnSync(process.execPath, [join(checkout, 'infra/setup/bootstrap.mjs')], {
    encoding: 'utf8',
    // The packages from PyPI have a test of their own below.
    env: { PATH: programs, npm_lifecycle_event: `pre${command}`, YT_DLP_VENV: programs, ...env },
    timeout: 60_000,
  });
  expect(result.stdout).toBe('');
  return { exitCode: result.status, said: result.stderr };
}

describe('the npm packages', () => {
  beforeEach(putAllPrograms);

  test('are installed once, and the next run says and does nothing', async () => {
    await putProgram('npm', npmThatInstalls);
    const first = setUp('check');
    expect(first.exitCode).toBe(0);
    expect(first.said).toMatch(/installing the npm packages … done/);
    expect((await calls()).filter((call) => call.startsWith('npm ci'))).toHaveLength(1);
    const callsBefore = await calls();
    expect(setUp('check')).toEqual({ exitCode: 0, said: '' });
    expect(await calls()).toEqual(callsBefore);
  });

  test('are installed again when the lock file changes or the folder is damaged', async () => {
    await putProgram('npm', npmThatInstalls);
    setUp('check');
    await writeFile(
      join(checkout, 'package-lock.json'),
      '{"packages": {"node_modules/a": {"version": "2.0.0"}}}',
    );
    expect(setUp('check').exitCode).toBe(0);
    await rm(join(checkout, 'node_modules/node'), { recursive: true });
    expect(setUp('check').exitCode).toBe(0);
    expect((await calls()).filter((call) => call.startsWith('npm ci'))).toHaveLength(3);
  });

  test('that somebody has installed by hand are left alone', async () => {
    await mkdir(join(checkout, 'node_modules/node/bin'), { recursive: true });
    await writeFile(join(checkout, 'node_modules/node/bin/node'), '');
    await cp(join(checkout, 'package-lock.json'), join(checkout, 'node_modules/.package-lock.json'));
    expect(setUp('check')).toEqual({ exitCode: 0, said: '' });
    expect(await calls()).toEqual([]);
  });

  test('a failed or interrupted installation is repaired by the next run', async () => {
    await putProgram('npm', 'echo "npm error network is down"; exit 1');
    const failed = setUp('check');
    expect(failed.exitCode).toBe(1);
    expect(failed.said).toContain('npm error network is down');
    expect(failed.said).toContain(join(checkout, '.data/logs/npm-install.log'));
    await putProgram('npm', npmThatInstalls);
    expect(setUp('check').exitCode).toBe(0);
  });

  test('are brought in step by `npm install` when the lock file is behind package.json', async () => {
    await putProgram('npm', `[ "$1" = ci ] && { echo "npm error code EUSAGE"; exit 1; }\n${npmThatInstalls}`);
    expect(setUp('check').exitCode).toBe(0);
    expect((await calls()).map((call) => call.split(' ')[1])).toEqual(['ci', 'install']);
  });

  test('a lock left by a killed set-up is taken over', async () => {
    await putProgram('npm', npmThatInstalls);
    await mkdir(join(checkout, '.data/setup-packages.lock'), { recursive: true });
    const gone = spawnSync(process.execPath, ['-e', '']).pid;
    await writeFile(join(checkout, '.data/setup-packages.lock', String(gone)), '');
    expect(setUp('check').exitCode).toBe(0);
    expect(await readdir(join(checkout, '.data/setup-packages.lock'))).toEqual([]);
  });
});

describe('what is missing on the machine', () => {
  beforeEach(() => putProgram('npm', npmThatInstalls));

  test('is named all at once with the command that installs it, before anything is installed', async () => {
    await putProgram('brew');
    const { exitCode, said } = setUp('demo');
    expect(exitCode).toBe(1);
    for (const name of ['Java 17 or newer', 'Maven', 'ffmpeg with ffprobe', 'Python 3 with venv']) {
      expect(said).toContain(name);
    }
    expect(said).toContain('brew install openjdk maven ffmpeg python');
    expect(await calls()).toEqual([]);
  });

  test('is no matter to a command that does not need it', () => {
    expect(setUp('check').exitCode).toBe(0);
    expect(setUp('admin')).toEqual({ exitCode: 0, said: '' });
  });

  test('is not asked for where an address replaces the part', () => {
    const { said } = setUp('start', { KAFKA_BROKERS: 'kafka:9092', S3_ENDPOINT: 'http://s3' });
    expect(said).not.toContain('Java');
    expect(said).not.toContain('Maven');
    expect(said).toContain('ffmpeg');
  });

  test('an old Java is as bad as none', async () => {
    await putAllPrograms();
    await putProgram('java', 'echo openjdk 11.0.2 2019-01-15');
    const { exitCode, said } = setUp('bench');
    expect(exitCode).toBe(1);
    expect(said).toContain('Java 17 or newer');
    expect(said).not.toContain('Maven:');
  });

  test('a Python without venv is as bad as none', async () => {
    await putAllPrograms();
    await putProgram('python3', 'exit 1');
    expect(setUp('start').said).toContain('Python 3 with venv');
  });

  test.runIf(process.getuid?.() === 0)('is installed by apt-get as root', async () => {
    const place = ['mvn', 'ffmpeg', 'ffprobe', 'python3']
      .map((name) => `printf '#!/bin/sh\\n' > ${programs}/${name}; /bin/chmod +x ${programs}/${name}`)
      .join('\n');
    const placeJava = `printf '#!/bin/sh\\necho openjdk 17.0.1\\n' > ${programs}/java; /bin/chmod +x ${programs}/java`;
    await putProgram('apt-get', `case "$*" in *install*)\n${place}\n${placeJava};; esac`);
    await putProgram('apt-cache', 'case "$*" in *openjdk-21*) echo Package;; esac');
    expect(setUp('demo').exitCode).toBe(0);
    const installs = (await calls()).filter((call) => call.includes(' install -y'));
    expect(installs).toHaveLength(1);
    expect(installs[0]).toContain('openjdk-21-jre-headless maven ffmpeg python3 python3-venv');
  });
});

describe('the packages from PyPI', () => {
  const pythonThatInstalls = `
PATH=/usr/bin:/bin
case "$*" in "-m venv "*)
  mkdir -p "$3/bin"
  printf "#!/bin/sh\\n" > "$3/bin/python"
  chmod +x "$3/bin/python";;
esac`;

  test('are installed once for the commands that use them, in a folder named for the version', async () => {
    await putAllPrograms();
    await putProgram('npm', npmThatInstalls);
    await putProgram('python3', pythonThatInstalls);
    const requirements = join(checkout, 'test/schemathesis/requirements.txt');
    await mkdir(join(checkout, 'test/schemathesis'), { recursive: true });
    await writeFile(requirements, 'requests==2.0\nschemathesis==4.1.2\n');
    expect(setUp('test:schemathesis').said).toMatch(/installing schemathesis 4\.1\.2 … done/);
    const folder = join(checkout, '.data/lib/schemathesis-4.1.2');
    expect(await readFile(join(folder, 'installed.txt'), 'utf8')).toContain('schemathesis==4.1.2');
    expect(setUp('test:schemathesis').said).toBe('');
    expect(setUp('check').said).toBe('');
    const made = (await calls()).filter((call) => call.startsWith('python3 -m venv'));
    expect(made).toEqual([`python3 -m venv ${folder}`]);
  });
});
