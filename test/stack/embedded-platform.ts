import { join } from 'node:path';
import { startEmbeddedStack } from '#infra/embedded/stack.ts';
import type { PlatformRequest } from './choose-platform.ts';
import type { PlatformBackEnd } from './platform.ts';

/** The embedded stack as the suite's platform: the same servers as processes of this machine. */
export async function startEmbeddedPlatform({
  runFolder,
  index,
  say,
}: Pick<PlatformRequest, 'runFolder' | 'index' | 'say'>): Promise<PlatformBackEnd> {
  const stack = await startEmbeddedStack({
    dataDir: join(runFolder, `stack-${index}`),
    onProgress: ({ part, message }) => say(`${part}: ${message}`),
  });
  const { endpoint, region, accessKeyId, secretAccessKey } = stack.s3;
  return {
    backEnd: 'embedded',
    servers: {
      kafkaBrokers: stack.kafkaBrokers.join(','),
      databaseUrl: stack.databaseUrl,
      s3: { endpoint, region, accessKeyId, secretAccessKey },
    },
    containers: null,
    kill: async (part) => {
      process.kill(stack.pids[part], 'SIGKILL');
    },
    start: (part) => stack.restart(part),
    provideServiceImage: async () => undefined,
    stop: () => stack.stop(),
  };
}
