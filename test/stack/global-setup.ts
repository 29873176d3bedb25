import type { TestProject } from 'vitest/node';
import { giveBackPlatform, takePlatform } from './shared-platform.ts';

/** Starts the platform before the first test file and stops it after the last. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('platform', await takePlatform());
  return giveBackPlatform;
}
