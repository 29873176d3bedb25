import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { findEngine } from '#infra/containers/engine.ts';
import { removeRun } from './remove-run.ts';
import { killNotedProcesses } from './started-processes.ts';

/**
 * A process beside the test run, started by it and out of reach of its Ctrl-C. When the run's end of the
 * pipe closes, however the run ended, this removes what the run left: service processes, containers and
 * networks, and its folder. Usually there is nothing, as the run has cleaned up itself.
 */
const [runId = '', runFolder = ''] = process.argv.slice(2);
const triesToRemove = 60;

process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
for await (const _ of process.stdin);

await killNotedProcesses(runFolder);
const engine = await findEngine();
if (engine !== undefined) await removeRun(engine, runId);
await removeFolder();

/** The embedded stack's guardian stops its servers at the same moment; until then they still write. */
async function removeFolder(): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rm(runFolder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (attempt === triesToRemove) throw error;
      await delay(500);
    }
  }
}
