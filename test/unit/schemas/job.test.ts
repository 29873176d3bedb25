import { describe, expect, test } from 'vitest';
import { evolveCharge, isSettled } from '#schemas/charge.ts';
import { derivedUuid, isUuid } from '#schemas/ids.ts';
import { clipId, evolveJob, type JobEvent, unknownJob } from '#schemas/job.ts';
import { sampleRecords } from './sample-records.ts';

const requested: JobEvent = { name: 'JobRequested', value: sampleRecords.JobRequested };
const completed = (item: number): JobEvent => ({
  name: 'ClipCompleted',
  value: { ...sampleRecords.ClipCompleted, item },
});
const failed = (item: number): JobEvent => ({
  name: 'ClipFailed',
  value: { ...sampleRecords.ClipFailed, item },
});
const fold = (...events: JobEvent[]) => events.reduce(evolveJob, unknownJob);

describe('a job', () => {
  test('is processing until every clip has ended, and then completed', () => {
    expect(fold(requested).status).toBe('processing');
    expect(fold(requested, completed(0)).status).toBe('processing');
    expect(fold(requested, completed(0), failed(1)).status).toBe('completed');
  });

  test('takes the first terminal event of a clip and no other', () => {
    const job = fold(requested, failed(0), completed(0), failed(1), failed(1));
    const clips = job.status === 'unknown' || job.kind !== 'clip' ? [] : job.clips;
    expect(clips.map((clip) => clip.status)).toEqual(['failed', 'failed']);
  });

  test('ignores a second request, events before the request, and clips it does not have', () => {
    expect(fold(completed(0))).toEqual(unknownJob);
    expect(fold(requested, requested)).toEqual(fold(requested));
    expect(fold(requested, completed(2))).toEqual(fold(requested));
  });

  test('has clip ids in steps of the partition count', () => {
    expect([0, 1].map((item) => clipId(sampleRecords.JobRequested, item))).toEqual([10, 13]);
    expect(clipId({ first_clip_id: null, clip_id_step: 3 }, 0)).toBeNull();
  });
});

describe('a face swap', () => {
  const swapRequested: JobEvent = {
    name: 'JobRequested',
    value: {
      ...sampleRecords.JobRequested,
      kind: 'face_swap',
      item_count: 1,
      clip: null,
      first_clip_id: null,
    },
  };
  const swapCompleted: JobEvent = { name: 'SwapCompleted', value: sampleRecords.SwapCompleted };
  const swapFailed: JobEvent = { name: 'SwapFailed', value: sampleRecords.SwapFailed };

  test('is processing until its first terminal event, which decides for good', () => {
    expect(fold(swapRequested).status).toBe('processing');
    expect(fold(swapRequested, swapCompleted, swapFailed).status).toBe('completed');
    expect(fold(swapRequested, swapFailed, swapCompleted)).toEqual(fold(swapRequested, swapFailed));
    expect(fold(swapRequested, swapFailed).status).toBe('failed');
  });

  test('ignores what comes before its request, and the events of clips; clips ignore those of swaps', () => {
    expect(fold(swapFailed)).toEqual(unknownJob);
    expect(fold(swapRequested, completed(0), swapRequested)).toEqual(fold(swapRequested));
    expect(fold(requested, swapFailed)).toEqual(fold(requested));
  });
});

describe('a charge', () => {
  test('is settled when each item is captured or refunded, by the first word on each', () => {
    const open = evolveCharge(undefined, { name: 'WalletDebited', value: sampleRecords.WalletDebited });
    const half = evolveCharge(open, { name: 'WalletRefunded', value: sampleRecords.WalletRefunded });
    expect(half?.items).toEqual(['open', 'refunded']);
    const again = evolveCharge(half, { name: 'ChargeCaptured', value: sampleRecords.ChargeCaptured });
    expect(again?.items).toEqual(['open', 'refunded']);
    const whole = evolveCharge(half, {
      name: 'ChargeCaptured',
      value: { ...sampleRecords.ChargeCaptured, item: 0 },
    });
    expect([half, whole].map((charge) => charge && isSettled(charge))).toEqual([false, true]);
  });
});

test('a derived UUID is version 5 of the RFC', () => {
  // Appendix A.4 of RFC 9562: the DNS namespace and the name www.example.com.
  const dnsNamespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  expect(derivedUuid(dnsNamespace, 'www.example.com')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2');
  expect(isUuid(derivedUuid(dnsNamespace, 'x'))).toBe(true);
});
