import { closeSync, openSync } from 'node:fs';
import { mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';

const rotateAboveBytes = 10 * 1024 * 1024;
const tailBytes = 3_000;

/** Where the server `name` of `dataDir` writes what it has to say. */
export function serverLogFile(dataDir: string, name: string): string {
  return join(dataDir, 'logs', `${name}.log`);
}

/**
 * Opens the log for a server about to start, runs `use` with its descriptor, and closes our copy. A log
 * that has grown big is put aside first, as `.1`.
 */
export async function withServerLog<T>(file: string, use: (descriptor: number) => Promise<T>): Promise<T> {
  await mkdir(join(file, '..'), { recursive: true });
  const size = await stat(file).then(
    (found) => found.size,
    () => 0,
  );
  if (size > rotateAboveBytes) await rename(file, `${file}.1`);
  const descriptor = openSync(file, 'a');
  try {
    return await use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** The last lines of a log, for an error message. */
export async function tailOfLog(file: string): Promise<string> {
  const log = await open(file).catch(() => undefined);
  if (log === undefined) return '';
  try {
    const { size } = await log.stat();
    const start = Math.max(0, size - tailBytes);
    const { buffer, bytesRead } = await log.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } finally {
    await log.close();
  }
}
