import type { Topic } from '#schemas/topics.ts';

/** The topics that become rows. */
export const projectedTopics = [
  'team.events',
  'wallet.events',
  'job.events',
  'job.progress',
] as const satisfies readonly Topic[];
