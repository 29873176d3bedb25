import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The jars of the two Java servers. */
export type JavaLibraries = {
  /** Every jar of Apache Kafka, as a class path in a fixed order. */
  readonly kafkaClassPath: string;
  readonly s3proxyJar: string;
  /** Where the servers' class archives (AppCDS) are kept: they belong to exactly these jars. */
  readonly archiveFolder: string;
};

const pomFile = fileURLToPath(new URL('pom.xml', import.meta.url));
const downloadLimitMs = 15 * 60_000;
const errorTailLength = 2_000;

/**
 * The jars under `librariesDir`, fetched by Maven where they are missing. The folder is named for the
 * pom's content, so a changed pom fetches anew, and appears only once it is complete.
 */
export async function ensureJavaLibraries(
  librariesDir: string,
  fetching: { readonly onProgress: (message: string) => void; readonly signal?: AbortSignal },
): Promise<JavaLibraries> {
  const pom = await readFile(pomFile);
  const folder = join(librariesDir, createHash('sha256').update(pom).digest('hex').slice(0, 12));
  const present = await access(folder).then(
    () => true,
    () => false,
  );
  if (!present) await fetchLibraries(folder, fetching);
  const kafkaJars = (await readdir(join(folder, 'kafka'))).filter((name) => name.endsWith('.jar')).sort();
  return {
    kafkaClassPath: kafkaJars.map((jar) => join(folder, 'kafka', jar)).join(':'),
    s3proxyJar: join(folder, 's3proxy', 's3proxy.jar'),
    archiveFolder: folder,
  };
}

async function fetchLibraries(
  folder: string,
  { onProgress, signal }: Parameters<typeof ensureJavaLibraries>[1],
): Promise<void> {
  onProgress('fetching Apache Kafka and S3Proxy from Maven Central (100 MB, once)');
  // Two starts at once may both fetch; whoever is first to rename wins, the other throws its copy away.
  const staging = `${folder}.${randomUUID()}`;
  await mkdir(staging, { recursive: true });
  try {
    await promisify(execFile)(
      'mvn',
      ['-q', '-B', '-f', pomFile, `-Dlibraries=${staging}`, 'generate-resources'],
      { timeout: downloadLimitMs, maxBuffer: 16 << 20, ...(signal && { signal }) },
    );
    await rename(staging, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new Error(describeMavenFailure(cause), { cause });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function describeMavenFailure(cause: unknown): string {
  const { code, stdout = '', message } = cause as { code?: unknown; stdout?: string; message: string };
  if (code === 'ENOENT') {
    return 'Maven (mvn) is not installed: it fetches Apache Kafka and S3Proxy. Install it, or set KAFKA_BROKERS and S3_ENDPOINT.';
  }
  return `Maven could not fetch Apache Kafka and S3Proxy. Its last words:\n${(stdout || message).slice(-errorTailLength)}`;
}
