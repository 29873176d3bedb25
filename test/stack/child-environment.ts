import { join, resolve } from 'node:path';

const repository = resolve(import.meta.dirname, '../..');

/**
 * What a process of the service takes over from the test run. Node.js keeps compiled code of earlier starts for
 * the next: half the work of a start, and a run has a hundred of them.
 */
export const childEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  NODE_COMPILE_CACHE: join(repository, '.data/compile-cache'),
};
