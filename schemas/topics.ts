/**
 * The topics, named without the deployment's prefix. Those keyed by team have the same partition count and
 * the same partitioner (murmur2 of the decimal team id), so that one ledger owner decides for a team in all.
 */

export type TopicProfile = 'embedded' | 'production';

export type TopicSpec = Readonly<{
  keyedBy: 'team' | 'job' | 'command' | 'task';
  partitions: Readonly<Record<TopicProfile, number>>;
  /** Milliseconds, or `for-ever`, or `compacted` (the newest record of each key). */
  kept: number | 'for-ever' | 'compacted';
}>;

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const topicSpecs = {
  'wallet.commands': { keyedBy: 'team', partitions: { embedded: 3, production: 24 }, kept: 7 * dayMs },
  'wallet.events': { keyedBy: 'team', partitions: { embedded: 3, production: 24 }, kept: 'for-ever' },
  'team.events': { keyedBy: 'team', partitions: { embedded: 3, production: 24 }, kept: 'for-ever' },
  'wallet.state': { keyedBy: 'team', partitions: { embedded: 3, production: 24 }, kept: 'compacted' },
  'wallet.replies': { keyedBy: 'command', partitions: { embedded: 3, production: 12 }, kept: hourMs },
  'job.events': { keyedBy: 'job', partitions: { embedded: 3, production: 24 }, kept: 'for-ever' },
  'job.tasks': { keyedBy: 'task', partitions: { embedded: 6, production: 96 }, kept: 7 * dayMs },
  'job.progress': { keyedBy: 'job', partitions: { embedded: 3, production: 24 }, kept: hourMs },
  'job.dead': { keyedBy: 'task', partitions: { embedded: 1, production: 3 }, kept: 90 * dayMs },
} as const satisfies Readonly<Record<string, TopicSpec>>;

export type Topic = keyof typeof topicSpecs;

export const topics: Readonly<Record<Topic, TopicSpec>> = topicSpecs;
export const topicNames = Object.keys(topicSpecs) as readonly Topic[];
