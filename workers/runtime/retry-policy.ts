import type { TaskFailure } from './task-failure.ts';

/** How a task is tried again. */
export type RetryPolicy = Readonly<{
  /** Tries of a task that fails by itself; outages of Kafka or object storage are not counted. */
  maxAttempts: number;
  baseDelayMs: number;
  maxDelayMs: number;
  /** An outage ends when it ends: the wait stays short enough to notice. */
  maxOutageDelayMs: number;
}>;

/** Waits of at most 2, 4 and 8 s between four tries; at most 15 s while a dependency is down. */
export const retryPolicy: RetryPolicy = {
  maxAttempts: 4,
  baseDelayMs: 2_000,
  maxDelayMs: 60_000,
  maxOutageDelayMs: 15_000,
};

/** What the task has been through, this failure included. */
export type TaskHistory = Readonly<{ failures: number; outagesInARow: number }>;

export const untried: TaskHistory = { failures: 0, outagesInARow: 0 };

/** The history with one more failure. */
export function withFailure(history: TaskHistory, failure: TaskFailure): TaskHistory {
  return failure.class === 'outage'
    ? { ...history, outagesInARow: history.outagesInARow + 1 }
    : { failures: history.failures + 1, outagesInARow: 0 };
}

export type FailureDecision =
  | Readonly<{ action: 'retry'; delayMs: number }>
  | Readonly<{ action: 'give-up'; isDead: boolean }>;

/**
 * What follows from `failure`. A task is dead, to be looked at by an operator, when its tries are used up;
 * broken material and a missed deadline are ordinary ends. `random` is in [0, 1).
 */
export function afterFailure(
  failure: TaskFailure,
  history: TaskHistory,
  random: number,
  policy: RetryPolicy = retryPolicy,
): FailureDecision {
  switch (failure.class) {
    case 'permanent':
    case 'deadline':
      return { action: 'give-up', isDead: false };
    case 'outage':
      return { action: 'retry', delayMs: outageDelayMs(history.outagesInARow, random, policy) };
    case 'transient':
      if (history.failures >= policy.maxAttempts) return { action: 'give-up', isDead: true };
      return {
        action: 'retry',
        delayMs: fullJitterMs(history.failures, policy.baseDelayMs, policy.maxDelayMs, random),
      };
  }
}

/** The wait before the next try while Kafka or object storage is down. */
export function outageDelayMs(
  outagesInARow: number,
  random: number,
  policy: RetryPolicy = retryPolicy,
): number {
  return fullJitterMs(outagesInARow, policy.baseDelayMs, policy.maxOutageDelayMs, random);
}

/** Exponential backoff with full jitter: anything between 0 and the doubled wait, so that crowds spread out. */
function fullJitterMs(failures: number, baseMs: number, maxMs: number, random: number): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** (Math.min(failures, 30) - 1));
  return Math.floor(random * ceiling);
}
