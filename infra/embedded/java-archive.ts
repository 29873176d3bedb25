import { access, rename } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Class archives (AppCDS) halve the start of a Java server. The first run records what it loads and
 * writes the archive when it stops in order; later runs map it. Java ignores an archive that does not
 * fit its version or jars.
 */
export async function classArchiveFlags(folder: string, name: string): Promise<string[]> {
  const archive = join(folder, `${name}.jsa`);
  const present = await access(archive).then(
    () => true,
    () => false,
  );
  if (present)
    return ['-Xshare:auto', `-XX:SharedArchiveFile=${archive}`, '-Xlog:disable', '-Xlog:all=error:stderr'];
  return [`-XX:ArchiveClassesAtExit=${recordingFile(archive)}`, '-Xlog:disable', '-Xlog:all=error:stderr'];
}

/** Puts an archive that the ended server has written in its place, whole. */
export async function keepClassArchive(folder: string, name: string): Promise<void> {
  const archive = join(folder, `${name}.jsa`);
  await rename(recordingFile(archive), archive).catch(() => undefined);
}

/** Named for this process: several stacks may record at the same time. */
function recordingFile(archive: string): string {
  return `${archive}.${process.pid}`;
}
