import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** The account that PostgreSQL runs under; undefined: our own, since we are not root. */
export type PostgresAccount = { readonly uid: number; readonly gid: number } | undefined;

const run = promisify(execFile);

/** PostgreSQL refuses to run as root: then it gets the account `postgres`, made where it is missing. */
export async function postgresAccount(): Promise<PostgresAccount> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = await lookUpAccount();
  if (existing !== undefined) return existing;
  await run('groupadd', ['--system', 'postgres']).catch(() => undefined);
  await run('useradd', [
    '--system',
    '--gid',
    'postgres',
    '--no-create-home',
    '--shell',
    '/usr/sbin/nologin',
    'postgres',
  ]).catch(() => undefined);
  const made = await lookUpAccount();
  if (made !== undefined) return made;
  throw new Error(
    'PostgreSQL cannot run as root, and the account `postgres` could not be made: run `useradd --system postgres`, or set DATABASE_URL.',
  );
}

async function lookUpAccount(): Promise<PostgresAccount> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', 'postgres']), run('id', ['-g', 'postgres'])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return undefined;
  }
}

/** A command line, and the account that node switches to before it runs it. */
export type AccountCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly identity: { readonly uid?: number; readonly gid?: number };
};

/**
 * How to run `command` under `account`. Where a parent folder is closed to it (root's home, say), setpriv
 * lends it the capability to pass through folders, since opening root's folders to all would be worse.
 */
export async function asAccount(
  account: PostgresAccount,
  command: string,
  args: readonly string[],
  folders: readonly string[],
): Promise<AccountCommand> {
  if (account === undefined) return { command, args, identity: {} };
  const closed = await firstClosedParent([command, ...folders]);
  if (closed === undefined) return { command, args, identity: account };
  if (!(await canRun('setpriv'))) {
    throw new Error(
      `PostgreSQL runs as the account \`postgres\`, which cannot pass through ${closed}: run \`chmod o+x ${closed}\`, or set DATA_DIR or DATABASE_URL.`,
    );
  }
  // access(2), by which PostgreSQL looks for its own programs, heeds capabilities only with this securebit.
  const lend = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup'];
  const change = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups'];
  return { command: 'setpriv', args: [...change, ...lend, command, ...args], identity: {} };
}

/** The nearest folder above one of `paths` that others may not pass through. */
async function firstClosedParent(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    for (let folder = dirname(path); ; folder = dirname(folder)) {
      const { mode } = await stat(folder);
      if ((mode & 0o001) === 0) return folder;
      if (folder === dirname(folder)) break;
    }
  }
  return undefined;
}

async function canRun(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  );
}
