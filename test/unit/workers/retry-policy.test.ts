import { describe, expect, test } from 'vitest';
import { afterFailure, type RetryPolicy, untried, withFailure } from '#workers/runtime/retry-policy.ts';
import type { TaskFailure } from '#workers/runtime/task-failure.ts';

const policy: RetryPolicy = { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 350, maxOutageDelayMs: 250 };
const almostOne = 0.999_999;
const failure = (of: TaskFailure['class']): TaskFailure => ({
  class: of,
  code: 'a_code',
  message: 'It failed.',
  detail: undefined,
});

function historyOf(...classes: readonly TaskFailure['class'][]) {
  return classes.reduce((history, of) => withFailure(history, failure(of)), untried);
}

describe('given a failure that may pass', () => {
  test('when tries are left, then it is tried again', () => {
    expect(afterFailure(failure('transient'), historyOf('transient'), 0.5, policy)).toEqual({
      action: 'retry',
      delayMs: 50,
    });
  });

  test('the wait is anything from 0 to a ceiling that doubles', () => {
    const ceiling = (failures: number) =>
      afterFailure(failure('transient'), { failures, outagesInARow: 0 }, almostOne, {
        ...policy,
        maxAttempts: 99,
      });
    expect(ceiling(1)).toEqual({ action: 'retry', delayMs: 99 });
    expect(ceiling(2)).toEqual({ action: 'retry', delayMs: 199 });
    expect(ceiling(3)).toEqual({ action: 'retry', delayMs: 349 });
    expect(ceiling(90)).toEqual({ action: 'retry', delayMs: 349 });
    expect(afterFailure(failure('transient'), historyOf('transient'), 0, policy)).toEqual({
      action: 'retry',
      delayMs: 0,
    });
  });

  test('when the tries are used up, then the task is dead', () => {
    const history = historyOf('transient', 'transient', 'transient');
    expect(afterFailure(failure('transient'), history, 0.5, policy)).toEqual({
      action: 'give-up',
      isDead: true,
    });
  });
});

describe('given a failure that lies in the material', () => {
  test('then it is not tried again and is no matter for an operator', () => {
    expect(afterFailure(failure('permanent'), historyOf('permanent'), 0.5, policy)).toEqual({
      action: 'give-up',
      isDead: false,
    });
  });
});

describe('given an outage', () => {
  test('then it is tried again without end', () => {
    const history = historyOf(...Array.from({ length: 500 }, () => 'outage' as const));
    expect(afterFailure(failure('outage'), history, almostOne, policy)).toEqual({
      action: 'retry',
      delayMs: 249,
    });
  });

  test('then it uses up none of the tries', () => {
    const history = historyOf('outage', 'outage', 'outage', 'transient');
    expect(afterFailure(failure('transient'), history, 0.5, policy).action).toBe('retry');
  });

  test('when it has passed, then the next one starts with short waits again', () => {
    expect(historyOf('outage', 'outage', 'transient', 'outage').outagesInARow).toBe(1);
  });
});

describe('given a missed deadline', () => {
  test('then it is given up', () => {
    expect(afterFailure(failure('deadline'), historyOf('deadline'), 0.5, policy)).toEqual({
      action: 'give-up',
      isDead: false,
    });
  });
});
