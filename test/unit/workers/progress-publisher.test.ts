import { expect, test } from 'vitest';
import type { RecordToAppend } from '#infra/kafka/record.ts';
import { decodeRecord } from '#schemas/codec.ts';
import { ProgressPublisher } from '#workers/runtime/progress-publisher.ts';

const job = { jobId: '11111111-1111-4111-8111-111111111111', teamId: 7 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

function given(append: () => Promise<void> = async () => undefined) {
  const appended: RecordToAppend[] = [];
  const clock = { nowMs: 1_000_000 };
  const publisher = new ProgressPublisher(
    async (records) => {
      appended.push(...records);
      await append();
    },
    () => clock.nowMs,
  );
  const values = () => appended.map(({ value }) => decodeRecord(value ?? Buffer.alloc(0)).value);
  return { publisher, clock, values };
}

test('a job says where it is at most once a second', async () => {
  const { publisher, clock, values } = given();
  for (let step = 0; step < 25; step += 1) {
    publisher.report(job, 'render', step / 25);
    await settled();
    clock.nowMs += 100;
  }
  expect(values()).toHaveLength(3);
  expect(values()[0]).toMatchObject({ job_id: job.jobId, team_id: 7, stage: 'render', fraction: 0 });
});

test('progress does not queue up behind an append that hangs', async () => {
  const { publisher, clock, values } = given(() => new Promise(() => undefined));
  for (let step = 0; step < 5; step += 1) {
    publisher.report(job, 'render', 0);
    clock.nowMs += 2_000;
  }
  expect(values()).toHaveLength(1);
});

test('an append that fails is forgotten', async () => {
  const { publisher, clock, values } = given(() => Promise.reject(new Error('down')));
  publisher.report(job, 'fetch', 0);
  await settled();
  clock.nowMs += 1_000;
  publisher.report(job, 'fetch', 2);
  expect(values()).toMatchObject([{ fraction: 0 }, { fraction: 1 }]);
});
