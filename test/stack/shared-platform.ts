import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlatformsOfRun } from './platforms-of-run.ts';
import { startSweeper } from './start-sweeper.ts';
import { killNotedProcesses } from './started-processes.ts';

/** What a run's test files need beside the servers. */
export type PlatformNeeds = {
  /** The image of the service: built ahead, so that the first file that starts the service need not wait. */
  readonly serviceImage: boolean;
};

type SharedPlatform = {
  readonly url: string;
  stop(): Promise<void>;
};

type Slot = { platform?: Promise<SharedPlatform>; users: number; verdict?: string };

/** vitest loads this file once per project, and the reporter once more: they meet on the global object. */
const slotKey = Symbol.for('clipledger.test-platform');
const slots = globalThis as typeof globalThis & { [slotKey]?: Slot };
slots[slotKey] ??= { users: 0 };
const slot: Slot = slots[slotKey];

/**
 * The address of the run's shared platform, begun by whoever asks first. Its servers may still be starting:
 * test files that need them wait (`usePlatform`), all others run meanwhile.
 */
export async function takePlatform(needs: PlatformNeeds): Promise<string> {
  slot.users += 1;
  slot.platform ??= begin(needs);
  return (await slot.platform).url;
}

/** Stops the platform once everybody who took it has given it back. */
export async function giveBackPlatform(): Promise<void> {
  slot.users -= 1;
  if (slot.users > 0) return;
  const platform = slot.platform;
  delete slot.platform;
  await (await platform)?.stop();
}

/** The sentence about the back end; undefined when no test needed one. */
export const platformVerdict = (): string | undefined => slot.verdict;

async function begin({ serviceImage }: PlatformNeeds): Promise<SharedPlatform> {
  const runId = randomBytes(5).toString('hex');
  const runFolder = await mkdtemp(join(tmpdir(), 'clipledger-test-'));
  // The embedded stack's PostgreSQL runs as an account of its own and passes through.
  await chmod(runFolder, 0o755);
  const sweeper = startSweeper(runId, runFolder);
  const platforms = new PlatformsOfRun({ runId, runFolder });
  const url = await platforms.begin();
  if (serviceImage) platforms.buildServiceImage();
  const stop = async () => {
    const verdict = await platforms.verdict;
    if (verdict !== undefined) slot.verdict = verdict;
    await killNotedProcesses(runFolder);
    await platforms.stop();
    await sweeper.finish();
  };
  return { url, stop };
}
