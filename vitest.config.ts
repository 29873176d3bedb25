import { defineConfig } from 'vitest/config';

const platform = ['test/stack/global-setup.ts'];

export default defineConfig({
  test: {
    reporters: ['default', './test/stack/closing-reporter.ts'],
    // Two cores: more files at once only take each other's time, and time limits with it.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
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
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Faults kill the servers that everybody stands on: after all others, one file at a time.
        test: {
          name: 'faults',
          include: ['test/faults/**/*.test.ts'],
          globalSetup: platform,
          testTimeout: 300_000,
          hookTimeout: 600_000,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
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
