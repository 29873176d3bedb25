import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Command } from '#api/ledger/decision.ts';
import { LedgerUnavailable } from '#api/ledger/ledger-client.ts';
import { type Settlement, settleBatch, UnsettleableRecord } from '#api/settlement/settle-items.ts';
import type { ReadRecord } from '#infra/kafka/record.ts';
import { encodeRecord } from '#schemas/codec.ts';
import { cancelledCode } from '#schemas/failure-codes.ts';
import type { CommandReply, RecordTypes } from '#schemas/records.ts';
import { sampleRecords } from '../../schemas/sample-records.ts';

type Settle = RecordTypes['SettleChargeItem'];

const jobId = (number: number) => `00000000-0000-4000-8000-00000000000${number}`;

function recordOf(value: Buffer, offset = 0): ReadRecord {
  return { topic: 'job.events', partition: 0, offset, key: 'job', value, headers: {}, timestampMs: 0 };
}
const completed = (job: number, item: number) =>
  recordOf(encodeRecord('ClipCompleted', { ...sampleRecords.ClipCompleted, job_id: jobId(job), item }));
const failed = (job: number, item: number, code = 'NO_SPEECH') =>
  recordOf(
    encodeRecord('ClipFailed', {
      ...sampleRecords.ClipFailed,
      job_id: jobId(job),
      item,
      code,
      error: 'No speech.',
    }),
  );
const swapped = (job: number) =>
  recordOf(encodeRecord('SwapCompleted', { ...sampleRecords.SwapCompleted, job_id: jobId(job) }));
const notSwapped = (job: number) =>
  recordOf(
    encodeRecord('SwapFailed', { ...sampleRecords.SwapFailed, job_id: jobId(job), error: 'No face.' }),
  );
const requested = recordOf(encodeRecord('JobRequested', sampleRecords.JobRequested));

const accepted: CommandReply = { ...sampleRecords.CommandReply, outcome: 'accepted', refusal: null };

function settlement(
  answer: (settle: Settle, attempt: number) => Promise<CommandReply> = async () => accepted,
  refundFailedClips: 'on' | 'off' = 'on',
) {
  const submitted: Settle[] = [];
  const parts: Settlement = {
    ledger: {
      submit: (command: Command) => {
        if (command.name !== 'SettleChargeItem') throw new Error(command.name);
        submitted.push(command.value);
        return answer(command.value, submitted.length);
      },
    },
    refundFailedClips,
    log: pino({ level: 'silent' }),
    now: () => new Date(0),
  };
  return { parts, submitted };
}
const control = { signal: new AbortController().signal };
const outcomes = (commands: readonly Settle[]) =>
  commands.map(({ job_id, item, outcome }) => `${job_id.at(-1)}/${item} ${outcome}`);

describe('settling the items of a batch', () => {
  test('finished clips are earned, failed ones given back, other events passed over', async () => {
    const { parts, submitted } = settlement();
    await settleBatch({ records: [requested, completed(1, 0), failed(1, 1)] }, control, parts);
    expect(outcomes(submitted)).toEqual(['1/0 completed', '1/1 failed']);
    expect(submitted[1]).toMatchObject({
      reason: 'No speech.',
      debit_id: sampleRecords.ClipFailed.debit_id,
      cause_event_id: sampleRecords.ClipFailed.event_id,
      actor: 'system:settlement',
    });
  });

  test('where failed clips are not refunded, they are settled as waived', async () => {
    const { parts, submitted } = settlement(undefined, 'off');
    await settleBatch({ records: [failed(1, 0)] }, control, parts);
    expect(outcomes(submitted)).toEqual(['1/0 waived']);
  });

  test('a clip that the client called off is refunded even there', async () => {
    const { parts, submitted } = settlement(undefined, 'off');
    await settleBatch({ records: [failed(1, 0, cancelledCode), failed(1, 1)] }, control, parts);
    expect(outcomes(submitted)).toEqual(['1/0 failed', '1/1 waived']);
  });

  test.each(['on', 'off'] as const)(
    'a finished face swap is earned, a failed one always given back as a whole (REFUND_FAILED_CLIPS=%s)',
    async (refundFailedClips) => {
      const { parts, submitted } = settlement(undefined, refundFailedClips);
      await settleBatch({ records: [swapped(1), notSwapped(2), notSwapped(2)] }, control, parts);
      expect(outcomes(submitted).sort()).toEqual(['1/0 completed', '2/0 failed', '2/0 failed']);
      expect(submitted.find(({ outcome }) => outcome === 'failed')).toMatchObject({
        reason: 'No face.',
        debit_id: sampleRecords.SwapFailed.debit_id,
        cause_event_id: sampleRecords.SwapFailed.event_id,
      });
    },
  );

  test('the same event gives the same command, another outcome another one', async () => {
    const { parts, submitted } = settlement();
    await settleBatch({ records: [failed(1, 0), failed(1, 0), completed(1, 0)] }, control, parts);
    const [first, again, other] = submitted.map(({ command_id }) => command_id);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  test("a job's next event waits until the ledger has answered the one before; other jobs do not", async () => {
    const gate = Promise.withResolvers<CommandReply>();
    const { parts, submitted } = settlement((settle) =>
      settle.job_id === jobId(1) && settle.item === 0 ? gate.promise : Promise.resolve(accepted),
    );
    const records = [completed(1, 0), failed(1, 0), failed(1, 1), completed(2, 0), completed(2, 1)];
    const settled = settleBatch({ records }, control, parts);
    await new Promise(setImmediate);
    expect(outcomes(submitted)).toEqual(['1/0 completed', '2/0 completed', '2/1 completed']);
    gate.resolve(accepted);
    await settled;
    expect(submitted).toHaveLength(5);
  });

  test('an outage and a passed deadline are waited out', async () => {
    const answers = [
      () => Promise.reject(new LedgerUnavailable('no reply')),
      async (): Promise<CommandReply> => ({ ...accepted, outcome: 'refused', refusal: 'DeadlinePassed' }),
      async () => accepted,
    ] as const;
    const { parts, submitted } = settlement((_settle, attempt) => (answers[attempt - 1] ?? answers[2])());
    await settleBatch({ records: [failed(1, 0)] }, control, parts);
    expect(outcomes(submitted)).toEqual(['1/0 failed', '1/0 failed', '1/0 failed']);
    expect(new Set(submitted.map(({ command_id }) => command_id)).size).toBe(1);
  });

  test('a charge that the ledger has forgotten was settled before: nothing is repeated', async () => {
    const { parts, submitted } = settlement(async () => ({
      ...accepted,
      outcome: 'refused',
      refusal: 'ChargeNotFound',
    }));
    await settleBatch({ records: [failed(1, 0)] }, control, parts);
    expect(submitted).toHaveLength(1);
  });

  test('a partition that is taken away ends the waiting', async () => {
    const taken = new AbortController();
    const { parts } = settlement(async () => {
      taken.abort();
      throw new LedgerUnavailable('no reply');
    });
    await expect(settleBatch({ records: [failed(1, 0)] }, taken, parts)).rejects.toThrow();
  });

  test('what cannot be read stops the partition, after what goes before it', async () => {
    const { parts, submitted } = settlement();
    const records = [failed(1, 0), recordOf(Buffer.from('?'), 17), failed(1, 1)];
    await expect(settleBatch({ records }, control, parts)).rejects.toThrow(UnsettleableRecord);
    expect(outcomes(submitted)).toEqual(['1/0 failed']);
  });
});
