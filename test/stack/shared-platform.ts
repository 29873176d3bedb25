import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform } from './choose-platform.ts';
import type { PlatformDescription } from './platform.ts';
import { servePlatformControl } from './platform-control.ts';
import { startSweeper } from './start-sweeper.ts';
import { killNotedProcesses } from './started-processes.ts';

type SharedPlatform = {
  readonly description: PlatformDescription;
  stop(): Promise<void>;
};

type Slot = { platform?: Promise<SharedPlatform>; users: number; verdict?: string };

/** vitest loads this file once per project, and the reporter once more: they meet on the global object. */
const slotKey = Symbol.for('clipledger.test-platform');
const slots = globalThis as typeof globalThis & { [slotKey]?: Slot };
slots[slotKey] ??= { users: 0 };
const slot: Slot = slots[slotKey];

/** The run's one platform, started by whoever asks first. */
export async function takePlatform(): Promise<PlatformDescription> {
  slot.users += 1;
  slot.platform ??= start();
  return (await slot.platform).description;
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

async function start(): Promise<SharedPlatform> {
  const runId = randomBytes(5).toString('hex');
  const runFolder = await mkdtemp(join(tmpdir(), 'clipledger-test-'));
  // The embedded stack's PostgreSQL runs as an account of its own and passes through.
  await chmod(runFolder, 0o755);
  const sweeper = startSweeper(runId, runFolder);
  const say = (line: string) => process.stderr.write(`[platform] ${line}\n`);
  try {
    const wanted = process.env['TEST_PLATFORM'] || undefined;
    const { platform, verdict } = await startPlatform({ runId, runFolder, wanted, say });
    slot.verdict = verdict;
    const control = await servePlatformControl(platform);
    const { backEnd, servers, containers } = platform;
    const stop = async () => {
      control.close();
      await killNotedProcesses(runFolder);
      await platform.stop();
      await sweeper.finish();
    };
    const description = { backEnd, runId, runFolder, servers, containers, controlUrl: control.url };
    return { description, stop };
  } catch (error) {
    await sweeper.finish();
    throw error;
  }
}
