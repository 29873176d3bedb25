import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { longFiles, usesServiceImage } from '#test/stack/run-order.ts';

const repository = resolve(import.meta.dirname, '../../..');

test.each(longFiles)('%s, which goes first, is there', (file) => {
  expect(existsSync(resolve(repository, file))).toBe(true);
});

test.each([
  ['test/integration/service.test.ts', true],
  ['test/faults/service-kills.test.ts', true],
  ['test/integration/http/lists.test.ts', false],
  ['test/unit/stack/run-order.test.ts', false],
])('whether %s waits for the image of the service: %s', (file, expected) => {
  expect(usesServiceImage(resolve(repository, file))).toBe(expected);
});
