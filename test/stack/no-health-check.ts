import type { GenericContainer } from 'testcontainers';

/**
 * For the containers of tests, which ask for themselves whether they are ready: Docker starts a process for each
 * check, some images' checks run four times a second, and together they took a core from what is tested.
 */
export const noHealthCheck: Parameters<GenericContainer['withHealthCheck']>[0] = {
  test: ['CMD', 'true'],
  interval: 3_600_000,
  startPeriod: 1,
};
