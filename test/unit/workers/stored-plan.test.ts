import { describe, expect, test } from 'vitest';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { planVersion } from '#workers/clip/contract.ts';
import { isOutcomeKey } from '#workers/runtime/object-keys.ts';
import { readPlan } from '#workers/runtime/stored-plan.ts';

const read = (plan: unknown) =>
  readPlan(
    { getBytes: async () => Buffer.from(JSON.stringify(plan)) } as unknown as ObjectStorage,
    'jobs/a/plan.json',
    new AbortController().signal,
  );

describe('a stored plan', () => {
  test('of this version is read', async () => {
    expect(await read({ version: planVersion, clips: [] })).toMatchObject({ clips: [] });
  });

  test.each([{ version: 1, clips: [] }, {}, null, []])(
    'of another version is never rendered: %j',
    async (plan) => {
      const error = await read(plan).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(MediaFailure);
      expect(error).toMatchObject({
        code: 'NOT_SUPPORTED',
        retryable: false,
        message: 'The clip was planned by another release of the service: order it again.',
      });
    },
  );
});

test('only outcomes are counted as ended clips', () => {
  expect(isOutcomeKey('results/a/17.json')).toBe(true);
  for (const end of ['17.plan.json', '17.png', '17.source.png', '17.mp4'])
    expect(isOutcomeKey(`results/a/${end}`)).toBe(false);
});
