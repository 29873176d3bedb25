import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { finished, type LaneTask, type PartitionControl, TaskLane } from '#workers/runtime/task-lane.ts';

const log = pino({ level: 'silent' });
const first = { topic: 'job.tasks', partition: 0 } as const;
const second = { topic: 'job.tasks', partition: 1 } as const;

/** A task whose end the test decides. */
class ControlledTask {
  readonly name: string;
  readonly task: LaneTask;
  starts = 0;
  signal: AbortSignal | undefined;
  #attempt = Promise.withResolvers<void>();

  constructor(name: string, offset: number, teamId = 1) {
    this.name = name;
    const attempt = async (signal: AbortSignal) => {
      this.starts += 1;
      this.signal = signal;
      this.#attempt = Promise.withResolvers();
      signal.addEventListener('abort', () => this.#attempt.reject(signal.reason));
      await this.#attempt.promise;
      return finished;
    };
    this.task = { offset, key: name, teamId, attempt };
  }

  async finish(): Promise<void> {
    this.#attempt.resolve();
    await settled();
  }
}

class FakeControl implements PartitionControl {
  commits: number[] = [];
  isPaused = false;
  readonly pause = () => {
    this.isPaused = true;
    return () => {
      this.isPaused = false;
    };
  };
  readonly commit = (nextOffset: number) => {
    this.commits.push(nextOffset);
  };
}

/** Lets everything run that is due without time passing. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const started = (tasks: readonly ControlledTask[]) =>
  tasks.filter(({ starts }) => starts > 0).map(({ name }) => name);

let retries = 0;

function givenLane(limits: { concurrency?: number; maxUnfinishedPerPartition?: number } = {}) {
  const lane = new TaskLane({
    concurrency: limits.concurrency ?? 2,
    maxUnfinishedPerPartition: limits.maxUnfinishedPerPartition ?? 100,
    observer: {
      running: () => undefined,
      waiting: () => undefined,
      retried: () => {
        retries += 1;
      },
    },
    log,
  });
  const control = new FakeControl();
  lane.assign([first]);
  return { lane, control };
}

const batch = (tasks: readonly ControlledTask[], of: typeof first | typeof second = first) => ({
  ...of,
  nextOffset: (tasks.at(-1)?.task.offset ?? -1) + 1,
});

function accept(lane: TaskLane, control: FakeControl, ...tasks: readonly ControlledTask[]): void {
  lane.accept(
    batch(tasks),
    tasks.map(({ task }) => task),
    control,
  );
}

describe('a lane', () => {
  test('runs no more tasks at once than it may, and the next as soon as one ends', async () => {
    const { lane, control } = givenLane({ concurrency: 2 });
    const [a, b, c] = [new ControlledTask('a', 0), new ControlledTask('b', 1), new ControlledTask('c', 2)];
    accept(lane, control, a, b, c);
    expect(started([a, b, c])).toEqual(['a', 'b']);
    await b.finish();
    expect(started([a, b, c])).toEqual(['a', 'b', 'c']);
  });

  test('commits the lowest unfinished offset, in whatever order tasks end', async () => {
    const { lane, control } = givenLane({ concurrency: 3 });
    const [a, b, c] = [new ControlledTask('a', 10), new ControlledTask('b', 11), new ControlledTask('c', 12)];
    accept(lane, control, a, b, c);
    await c.finish();
    await b.finish();
    expect(control.commits).toEqual([10]);
    await a.finish();
    expect(control.commits).toEqual([10, 13]);
  });

  test('commits past records that need no work', async () => {
    const { lane, control } = givenLane();
    lane.accept({ ...first, nextOffset: 42 }, [], control);
    expect(control.commits).toEqual([42]);
  });

  test('takes turns between teams', async () => {
    const { lane, control } = givenLane({ concurrency: 1 });
    const tasks = [
      new ControlledTask('1a', 0, 1),
      new ControlledTask('1b', 1, 1),
      new ControlledTask('1c', 2, 1),
      new ControlledTask('2a', 3, 2),
    ];
    accept(lane, control, ...tasks);
    await tasks[0]?.finish();
    expect(started(tasks)).toEqual(['1a', '2a']);
    await tasks[3]?.finish();
    expect(started(tasks)).toEqual(['1a', '1b', '2a']);
  });

  test('never runs two tasks of one key at the same time', async () => {
    const { lane, control } = givenLane({ concurrency: 2 });
    const [a, again] = [new ControlledTask('a', 0), new ControlledTask('a', 1)];
    accept(lane, control, a, again);
    expect(again.starts).toBe(0);
    await a.finish();
    expect(again.starts).toBe(1);
  });

  test('pauses a partition that is full and resumes it at half', async () => {
    const { lane, control } = givenLane({ concurrency: 4, maxUnfinishedPerPartition: 4 });
    const tasks = [0, 1, 2, 3].map((offset) => new ControlledTask(`t${offset}`, offset));
    accept(lane, control, ...tasks.slice(0, 3));
    expect(control.isPaused).toBe(false);
    accept(lane, control, ...tasks.slice(3));
    expect(control.isPaused).toBe(true);
    await tasks[0]?.finish();
    expect(control.isPaused).toBe(true);
    await tasks[1]?.finish();
    expect(control.isPaused).toBe(false);
  });
});

describe('when the partitions are dealt out anew', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => vi.useRealTimers());

  test('tasks of a lost partition do not start any more, and running ones are aborted after a while', async () => {
    const { lane, control } = givenLane({ concurrency: 1 });
    const [running, other, waiting] = [
      new ControlledTask('running', 0),
      new ControlledTask('other', 0),
      new ControlledTask('waiting', 1),
    ];
    accept(lane, control, running, waiting);
    lane.accept(batch([other], second), [other.task], new FakeControl());
    control.commits = [];
    lane.revoke([first]);
    expect(running.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(running.signal?.aborted).toBe(true);
    expect(started([waiting, other])).toEqual(['other']);
    expect(control.commits).toEqual([]);
  });

  test('a partition that comes back in time finds its tasks running, and takes none of them twice', async () => {
    const { lane, control } = givenLane({ concurrency: 1 });
    const [running, waiting] = [new ControlledTask('running', 0), new ControlledTask('waiting', 1)];
    accept(lane, control, running, waiting);
    lane.revoke([first]);
    lane.assign([first, second]);
    const again = new FakeControl();
    const [delivered, alsoDelivered] = [new ControlledTask('running', 0), new ControlledTask('waiting', 1)];
    accept(lane, again, delivered, alsoDelivered);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(running.signal?.aborted).toBe(false);
    await running.finish();
    await waiting.finish();
    expect(delivered.starts + alsoDelivered.starts).toBe(0);
    expect(again.commits).toEqual([0, 1, 2]);
  });

  test('what ended while the partition was away is committed when it comes back', async () => {
    const { lane, control } = givenLane();
    const task = new ControlledTask('a', 0);
    accept(lane, control, task);
    lane.revoke([first]);
    await task.finish();
    lane.assign([first]);
    const again = new FakeControl();
    accept(lane, again, new ControlledTask('a', 0));
    expect(again.commits).toEqual([1]);
  });

  test('a partition that comes back later starts from what is delivered', async () => {
    const { lane, control } = givenLane();
    accept(lane, control, new ControlledTask('a', 0));
    lane.revoke([first]);
    await vi.advanceTimersByTimeAsync(30_000);
    lane.assign([first]);
    const delivered = new ControlledTask('a', 0);
    accept(lane, new FakeControl(), delivered);
    expect(delivered.starts).toBe(1);
  });

  test('a full partition that comes back is paused again', () => {
    const { lane, control } = givenLane({ maxUnfinishedPerPartition: 1 });
    accept(lane, control, new ControlledTask('a', 0));
    lane.revoke([first]);
    lane.assign([first]);
    const again = new FakeControl();
    accept(lane, again, new ControlledTask('a', 0));
    expect(again.isPaused).toBe(true);
  });
});

describe('a task that is to be tried again', () => {
  beforeEach(() => {
    retries = 0;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => vi.useRealTimers());

  test('holds no slot while it waits, and its offset stays uncommitted', async () => {
    const { lane, control } = givenLane({ concurrency: 1 });
    let tries = 0;
    const flaky: LaneTask = {
      offset: 0,
      key: 'flaky',
      teamId: 1,
      attempt: async () => {
        tries += 1;
        return tries === 1 ? { kind: 'retry', delayMs: 1_000 } : finished;
      },
    };
    const other = new ControlledTask('other', 1);
    lane.accept({ ...first, nextOffset: 2 }, [flaky, other.task], control);
    await settled();
    expect(other.starts).toBe(1);
    await other.finish();
    expect(control.commits).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(tries).toBe(2);
    expect(retries).toBe(1);
    expect(control.commits).toEqual([0, 2]);
  });
});

describe('when the worker stops', () => {
  test('running tasks may end and are committed, waiting ones are left to others', async () => {
    const { lane, control } = givenLane({ concurrency: 1 });
    const [running, waiting] = [new ControlledTask('running', 0), new ControlledTask('waiting', 1)];
    accept(lane, control, running, waiting);
    const stopped = lane.stop(60_000);
    await running.finish();
    await stopped;
    expect(waiting.starts).toBe(0);
    expect(control.commits.at(-1)).toBe(1);
  });

  test('what has not ended in time is aborted and not committed', async () => {
    const { lane, control } = givenLane();
    const task = new ControlledTask('a', 0);
    accept(lane, control, task);
    await lane.stop(0);
    expect(task.signal?.aborted).toBe(true);
    expect(control.commits).toEqual([0]);
  });
});
