import type { TestProject } from 'vitest/node';
import { usesServiceImage } from './run-order.ts';
import { giveBackPlatform, takePlatform } from './shared-platform.ts';

/** Begins the platform before the first test file and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const files = project.vitest.state.getPaths();
  project.provide('platformUrl', await takePlatform({ serviceImage: files.some(usesServiceImage) }));
  return giveBackPlatform;
}
