import { readFileSync } from 'node:fs';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The longest that start no service; most need no server either. Begun last, any would run alone at the end. */
export const longFiles = [
  'test/integration/media/clip-pipeline.test.ts',
  'test/integration/media/real-media.test.ts',
  'test/integration/media/analyse-source.test.ts',
  'test/integration/swap/swap-pipeline.test.ts',
  'test/integration/embedded/stack-survives-kills.test.ts',
];

/**
 * The order of the test files: unit tests while the servers start; the long files; those that start the service,
 * whose image is built until then; and all others as vitest would have them.
 */
export default class RunOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(files.map((file) => [file, placeOf(file)]));
    const placeIn = (file: TestSpecification) => places.get(file) ?? 0;
    const usual = await super.sort(files);
    return usual.toSorted((a, b) => placeIn(a) - placeIn(b));
  }
}

/** Whether a test file starts the service, which where there are containers is an image of its own. */
export function usesServiceImage(file: string): boolean {
  return /from '#test\/stack\/service\.ts'/.test(readFileSync(file, 'utf8'));
}

function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.name === 'unit') return 0;
  if (longFiles.some((file) => moduleId.endsWith(file))) return 1;
  return usesServiceImage(moduleId) ? 2 : 3;
}
