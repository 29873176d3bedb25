import { type Engine, findEngine, ImageFailure } from '#infra/containers/engine.ts';
import { startContainerPlatform } from './container-platform.ts';
import { startEmbeddedPlatform } from './embedded-platform.ts';
import type { PlatformBackEnd } from './platform.ts';

export type PlatformRequest = {
  readonly runId: string;
  readonly runFolder: string;
  /** A run may have several; the first is 0. */
  readonly index: number;
  /** `containers` or `embedded` insists on one; otherwise containers where a Docker daemon answers. */
  readonly wanted: string | undefined;
  readonly say: (line: string) => void;
};

export type ChosenPlatform = {
  readonly platform: PlatformBackEnd;
  /** One sentence for the end of the run: which back end it was, and why. */
  readonly verdict: string;
};

/** Starts containers where a Docker daemon answers, else the embedded stack. */
export async function startPlatform(request: PlatformRequest): Promise<ChosenPlatform> {
  const { wanted } = request;
  if (wanted === 'embedded') return embedded(request, 'TEST_PLATFORM=embedded asks for it');
  const engine = await findEngine();
  if (engine !== undefined) return containers(engine, request);
  if (wanted === 'containers') throw new Error('TEST_PLATFORM=containers, but no Docker daemon answers.');
  return embedded(request, 'no Docker daemon answers');
}

async function containers(engine: Engine, request: PlatformRequest): Promise<ChosenPlatform> {
  const { Version: version } = await engine.version();
  try {
    const platform = await startContainerPlatform(engine, request);
    return { platform, verdict: `The integration tests ran in containers (Docker ${version}).` };
  } catch (error) {
    // Images are a matter of networks and tools; a container that does not work is a failure of ours.
    if (!(error instanceof ImageFailure) || request.wanted === 'containers') throw error;
    request.say(error.message);
    return embedded(request, 'Docker answers, but an image could neither be pulled nor built');
  }
}

async function embedded(request: PlatformRequest, why: string): Promise<ChosenPlatform> {
  const platform = await startEmbeddedPlatform(request);
  const verdict = `The integration tests ran on the EMBEDDED STACK and not in containers: ${why}.`;
  return { platform, verdict };
}
