import { execFile } from 'node:child_process';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { listProcesses, type RunningProcess } from '../embedded/process-table.ts';

const listeningState = '0A';
const lsofLimitMs = 5_000;

/** The process that listens on TCP `port` of this machine, where the system tells us. */
export async function findPortOwner(port: number): Promise<RunningProcess | undefined> {
  const pid = process.platform === 'linux' ? await listenerFromProc(port) : await listenerFromLsof(port);
  if (pid === undefined) return undefined;
  return (await listProcesses()).find((candidate) => candidate.pid === pid);
}

async function listenerFromProc(port: number): Promise<number | undefined> {
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const inodes = tables.flatMap((table) => listeningInodes(table, port));
  if (inodes.length === 0) return undefined;
  const links = new Set(inodes.map((inode) => `socket:[${inode}]`));
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const link = await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '');
      if (links.has(link)) return Number(pid);
    }
  }
  return undefined;
}

/** The socket inodes that listen on `port`, out of the text of /proc/net/tcp or tcp6. */
export function listeningInodes(table: string, port: number): string[] {
  const portSuffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    const listens = local?.endsWith(portSuffix) === true && state === listeningState;
    return listens && inode !== undefined ? [inode] : [];
  });
}

async function listenerFromLsof(port: number): Promise<number | undefined> {
  try {
    const args = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'];
    const { stdout } = await promisify(execFile)('lsof', args, { timeout: lsofLimitMs });
    return Number(stdout.trim().split('\n')[0]) || undefined;
  } catch {
    return undefined;
  }
}
