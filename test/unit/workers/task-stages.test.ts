import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { decodeRecord } from '#schemas/codec.ts';
import { ProgressPublisher } from '#workers/runtime/progress-publisher.ts';
import { type StageObserver, TaskStages } from '#workers/runtime/task-stages.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const job = { jobId: 'c7b9e2fc-66a6-4b1e-8df8-5a4f6f2d6a11', teamId: 1 };

function observed() {
  const said: string[] = [];
  const publisher = new ProgressPublisher(async (records) => {
    for (const { value } of records) {
      const event = decodeRecord(value ?? Buffer.alloc(0));
      if (event.name === 'JobProgressed') said.push(`${event.value.stage} ${event.value.fraction}`);
    }
  }, Date.now);
  const at = { tasks: 0, fraction: 0 };
  const observer: StageObserver = {
    took: () => undefined,
    moved: (_stage, { tasks, fraction }) => {
      at.tasks += tasks;
      at.fraction += fraction;
    },
  };
  return { said, at, stages: new TaskStages(job, publisher, observer) };
}

test('a stage in which nothing is heard of is said again until it is left', async () => {
  const { said, stages } = observed();
  stages.enter('fetch');
  await vi.advanceTimersByTimeAsync(31_000);
  stages.leave();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(said).toEqual(['fetch 0', 'fetch 0', 'fetch 0']);
});

test('a stage that was entered too soon after another one is said later', async () => {
  const { said, stages } = observed();
  stages.enter('fetch');
  stages.enter('render', 0.25);
  await vi.advanceTimersByTimeAsync(15_000);
  stages.leave();
  expect(said).toEqual(['fetch 0', 'render 0.25']);
});

test('how much of a stage is done is measured, and forgotten when it is left', () => {
  const { at, stages } = observed();
  stages.enter('fetch', 1);
  stages.onProgress({ stage: 'analysing', fraction: 0.25 });
  stages.onProgress({ stage: 'analysing', fraction: 0.75 });
  expect(at).toEqual({ tasks: 1, fraction: 0.75 });
  stages.leave();
  expect(at).toEqual({ tasks: 0, fraction: 0 });
});
