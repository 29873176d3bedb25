import { defineConfig } from 'vitest/config';
import RunOrder from './test/stack/run-order.ts';

const platform = ['test/stack/global-setup.ts'];

/** One more than the two cores of CI: files wait for servers and clocks nearly half of their time. */
const together = { maxWorkers: 3, sequence: { groupOrder: 0 } };
/** `npm run faults`: one file at a time, as the machine is loaded enough by one. */
const hasLongFaults = process.env['FAULT_SECONDS'] !== undefined;

export default defineConfig({
  test: {
    reporters: ['default', './test/stack/closing-reporter.ts'],
    sequence: { sequencer: RunOrder },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          ...together,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: platform,
          testTimeout: 120_000,
          // The first service in containers waits for its image to be built.
          hookTimeout: 600_000,
          ...together,
        },
      },
      {
        // Those that kill servers have servers of their own, so that short runs go among all others.
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: platform,
          testTimeout: 300_000,
          hookTimeout: 600_000,
          ...(hasLongFaults ? { maxWorkers: 1, sequence: { groupOrder: 2 } } : together),
        },
      },
      {
        // Takes minutes and needs a Python environment: `npm run test:schemathesis`.
        test: {
          name: 'schemathesis',
          include: ['test/schemathesis/**/*.test.ts'],
          globalSetup: platform,
          testTimeout: 900_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
});
