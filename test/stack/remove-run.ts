import type { Engine } from '#infra/containers/engine.ts';
import { platformLabel, runLabel } from './platform.ts';

/** Removes every container (running or not, with its volumes) and network that bears the run's label. */
export function removeRun(engine: Engine, runId: string): Promise<void> {
  return removeLabelled(engine, `${runLabel}=${runId}`);
}

/** Removes one platform of a run, by its network's name; the others go on. */
export function removePlatform(engine: Engine, network: string): Promise<void> {
  return removeLabelled(engine, `${platformLabel}=${network}`);
}

async function removeLabelled(engine: Engine, label: string): Promise<void> {
  const filters = { label: [label] };
  const containers = await engine.listContainers({ all: true, filters });
  await Promise.all(
    containers.map(({ Id }) => engine.getContainer(Id).remove({ force: true, v: true }).catch(ignoreMissing)),
  );
  const networks = await engine.listNetworks({ filters });
  await Promise.all(networks.map(({ Id }) => engine.getNetwork(Id).remove().catch(ignoreMissing)));
}

/** Somebody else (testcontainers' reaper, the sweeper) may be removing the same thing: 404 and 409. */
function ignoreMissing(error: unknown): void {
  const { statusCode } = error as { statusCode?: number };
  if (statusCode !== 404 && statusCode !== 409) throw error;
}
