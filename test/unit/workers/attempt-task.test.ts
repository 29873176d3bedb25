import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { attemptsOf, type GivenUp, type Work } from '#workers/runtime/attempt-task.ts';
import { Cancellations, JobCancelled } from '#workers/runtime/cancellations.ts';
import { finished, TaskGivenBack } from '#workers/runtime/task-lane.ts';

const hourMs = 3_600_000;
const startMs = 1_700_000_000_000;

const givenSources = (cancellations = new Cancellations()) => ({
  now: () => startMs,
  random: () => 0.5,
  cancellations,
});

/** A task whose tries end as `ends` says, one after the other; `undefined` is a success. */
function givenWork(ends: (Error | undefined)[], about: { deadlineAtMs?: number; endFails?: number } = {}) {
  const givenUp: GivenUp[] = [];
  let endFailures = about.endFails ?? 0;
  let tries = 0;
  const work: Work = {
    deadlineAtMs: about.deadlineAtMs ?? startMs + hourMs,
    perform: async (signal) => {
      tries += 1;
      signal.throwIfAborted();
      const end = ends.shift();
      if (end !== undefined) throw end;
    },
    giveUp: async (end) => {
      endFailures -= 1;
      if (endFailures >= 0) throw new StorageFailure('UNAVAILABLE', 'down');
      givenUp.push(end);
    },
    log: pino({ level: 'silent' }),
  };
  const attempt = attemptsOf(work, givenSources());
  return {
    attempt: () => attempt(new AbortController().signal),
    attemptWith: attempt,
    givenUp,
    tries: () => tries,
  };
}

const unreachable = () => new MediaFailure('SOURCE_UNREACHABLE', 'The source did not answer.');
const notFound = () => new MediaFailure('SOURCE_NOT_FOUND', 'There is no video under this address.');
const outage = () => new StorageFailure('UNAVAILABLE', 'down');

test('work that succeeds is finished', async () => {
  const { attempt, givenUp } = givenWork([undefined]);
  expect(await attempt()).toEqual(finished);
  expect(givenUp).toEqual([]);
});

test('a failure that may pass is tried again, and may pass', async () => {
  const { attempt, givenUp } = givenWork([unreachable(), undefined]);
  expect(await attempt()).toEqual({ kind: 'retry', delayMs: 1_000 });
  expect(await attempt()).toEqual(finished);
  expect(givenUp).toEqual([]);
});

test('broken material fails at the first try, with its own reason', async () => {
  const { attempt, givenUp } = givenWork([notFound()]);
  expect(await attempt()).toEqual(finished);
  expect(givenUp).toMatchObject([{ failure: { code: 'source_not_found' }, attempts: 1, isDead: false }]);
});

test('the fourth failure in a row makes the task dead', async () => {
  const { attempt, givenUp } = givenWork([unreachable(), unreachable(), unreachable(), unreachable()]);
  for (let retry = 0; retry < 3; retry += 1) expect((await attempt()).kind).toBe('retry');
  expect(await attempt()).toEqual(finished);
  expect(givenUp).toMatchObject([{ attempts: 4, isDead: true }]);
});

test('an outage is waited out, however long it takes', async () => {
  const { attempt, givenUp } = givenWork([...Array.from({ length: 50 }, outage), undefined]);
  for (let retry = 0; retry < 50; retry += 1) expect((await attempt()).kind).toBe('retry');
  expect(await attempt()).toEqual(finished);
  expect(givenUp).toEqual([]);
});

describe('the deadline', () => {
  test('past it the work is not started', async () => {
    const { attempt, givenUp, tries } = givenWork([undefined], { deadlineAtMs: startMs });
    expect(await attempt()).toEqual(finished);
    expect(tries()).toBe(0);
    expect(givenUp).toMatchObject([{ failure: { code: 'deadline' }, isDead: false }]);
  });

  test('a wait ends at it', async () => {
    const { attempt } = givenWork([outage()], { deadlineAtMs: startMs + 300 });
    expect(await attempt()).toEqual({ kind: 'retry', delayMs: 300 });
  });

  test('work that runs when it comes is aborted', async () => {
    const givenUp: GivenUp[] = [];
    const attempt = attemptsOf(
      {
        deadlineAtMs: startMs + 10,
        perform: (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(new MediaFailure('ABORTED', 'Stopped.')));
          }),
        giveUp: async (end) => {
          givenUp.push(end);
        },
        log: pino({ level: 'silent' }),
      },
      givenSources(),
    );
    expect(await attempt(new AbortController().signal)).toEqual(finished);
    expect(givenUp).toMatchObject([{ failure: { code: 'deadline' } }]);
  });
});

test('a failure that could not be recorded is recorded later, without trying the work again', async () => {
  const { attempt, givenUp, tries } = givenWork([notFound()], { endFails: 2 });
  expect((await attempt()).kind).toBe('retry');
  expect((await attempt()).kind).toBe('retry');
  expect(await attempt()).toEqual(finished);
  expect(tries()).toBe(1);
  expect(givenUp).toMatchObject([{ failure: { code: 'source_not_found' } }]);
});

test('a task that is given back has neither failed nor finished', async () => {
  const { attemptWith, givenUp } = givenWork([undefined]);
  await expect(attemptWith(AbortSignal.abort(new TaskGivenBack('lost')))).rejects.toThrow(TaskGivenBack);
  expect(givenUp).toEqual([]);
});

describe('a job that is called off', () => {
  const silent = pino({ level: 'silent' });

  function givenTask(perform: Work['perform']) {
    const seen: string[] = [];
    const cancellations = new Cancellations();
    const work: Work = {
      deadlineAtMs: startMs + hourMs,
      perform: async (signal) => {
        seen.push('performed');
        await perform(signal);
      },
      giveUp: async () => {
        seen.push('given up');
      },
      callOff: {
        jobId: 'job',
        cleanUp: async () => {
          seen.push('cleaned up');
        },
      },
      log: silent,
    };
    const attempt = attemptsOf(work, givenSources(cancellations));
    return { seen, cancellations, attempt: (signal = new AbortController().signal) => attempt(signal) };
  }
  const untilAborted = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener('abort', () => reject(new MediaFailure('ABORTED', 'Stopped.')));
    });

  test('does not start any more, and that is no failure', async () => {
    const { seen, cancellations, attempt } = givenTask(async () => {});
    cancellations.note('job');
    expect(await attempt()).toEqual(finished);
    expect(seen).toEqual(['cleaned up']);
  });

  test('is stopped where it runs, with the reason', async () => {
    const reasons: unknown[] = [];
    const { seen, cancellations, attempt } = givenTask(async (signal) => {
      signal.addEventListener('abort', () => reasons.push(signal.reason));
      await untilAborted(signal);
    });
    const verdict = attempt();
    cancellations.note('another job');
    cancellations.note('job');
    expect(await verdict).toEqual(finished);
    expect(seen).toEqual(['performed', 'cleaned up']);
    expect(reasons).toEqual([expect.any(JobCancelled)]);
  });

  test('is not tried again after a failure that came before', async () => {
    const { seen, cancellations, attempt } = givenTask(async () => {
      throw unreachable();
    });
    expect((await attempt()).kind).toBe('retry');
    cancellations.note('job');
    expect(await attempt()).toEqual(finished);
    expect(seen).toEqual(['performed', 'cleaned up']);
  });

  test('leaves work finished that ended before it heard of it', async () => {
    const { seen, cancellations, attempt } = givenTask(async () => cancellations.note('job'));
    expect(await attempt()).toEqual(finished);
    expect(seen).toEqual(['performed']);
  });

  test('is left alone when its task is given back', async () => {
    const { seen, attempt } = givenTask(untilAborted);
    const lane = new AbortController();
    const verdict = attempt(lane.signal);
    lane.abort(new TaskGivenBack('lost'));
    await expect(verdict).rejects.toThrow(TaskGivenBack);
    expect(seen).toEqual(['performed']);
  });
});
