import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessGuard } from './guarded-processes.ts';
import { classArchiveFlags, keepClassArchive } from './java-archive.ts';
import type { JavaLibraries } from './java-libraries.ts';
import { serverLogFile, withServerLog } from './server-log.ts';
import type { StackServer } from './stack-server.ts';

type S3Options = {
  readonly dataDir: string;
  readonly port: number;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
  readonly libraries: JavaLibraries;
  readonly guard: ProcessGuard;
};

const probeLimitMs = 2_000;
/** One unchunked upload may be as big as the biggest source video. */
const largestUploadBytes = 4 * 1024 ** 3;

/** S3Proxy over plain files, on `<dataDir>/s3`. */
export function s3Server(options: S3Options): StackServer {
  const folder = join(options.dataDir, 's3');
  const propertiesFile = join(folder, 's3proxy.properties');
  const logFile = serverLogFile(options.dataDir, 's3');
  const { archiveFolder, s3proxyJar } = options.libraries;
  return {
    part: 's3',
    logFile,
    async prepare() {
      // A bucket of the file system provider is a folder: made here, it is there when the server serves.
      await mkdir(join(folder, 'buckets', options.bucket), { recursive: true, mode: 0o700 });
      await writeFile(propertiesFile, s3Properties(options, join(folder, 'buckets')), { mode: 0o600 });
    },
    isOurs: ({ commandLine }) => commandLine.endsWith(` --properties ${propertiesFile}`),
    launch: () =>
      withServerLog(logFile, async (descriptor) => {
        const server = await options.guard.start({
          name: 'S3Proxy',
          command: 'java',
          args: [
            ...['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-DLOG_LEVEL=warn'],
            ...(await classArchiveFlags(archiveFolder, 's3proxy')),
            ...['-jar', s3proxyJar, '--properties', propertiesFile],
          ],
          options: { cwd: folder, stdio: ['ignore', descriptor, descriptor] },
          stopSignal: 'SIGTERM',
          stopLimitMs: 10_000,
        });
        void server.exited.then(() => keepClassArchive(archiveFolder, 's3proxy'));
        return server;
      }),
    isServing: () => answersHealthCheck(options.port),
  };
}

function s3Properties(options: S3Options, buckets: string): string {
  return `${[
    `s3proxy.endpoint=http://127.0.0.1:${options.port}`,
    's3proxy.authorization=aws-v2-or-v4',
    `s3proxy.identity=${options.accessKeyId}`,
    `s3proxy.credential=${options.secretAccessKey}`,
    `s3proxy.v4-max-non-chunked-request-size=${largestUploadBytes}`,
    'jclouds.provider=filesystem-nio2',
    'jclouds.identity=local',
    'jclouds.credential=local',
    `jclouds.filesystem.basedir=${buckets}`,
  ].join('\n')}\n`;
}

async function answersHealthCheck(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`, {
      signal: AbortSignal.timeout(probeLimitMs),
    });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
