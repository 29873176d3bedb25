import { expect, test } from 'vitest';
import type { TaskStages } from '#workers/runtime/task-stages.ts';
import { allFrames, SwapProgressMeter, wholeFraction } from '#workers/swap/runtime/swap-progress.ts';

test('the stages of a swap add up to the whole job', () => {
  const fractions = (['examining', 'scanning', 'swapping', 'stitching', 'checking'] as const).flatMap(
    (stage) => [
      wholeFraction({ stage, fraction: 0 }, allFrames),
      wholeFraction({ stage, fraction: 1 }, allFrames),
    ],
  );
  expect(fractions[0]).toBe(0);
  expect(fractions.at(-1)).toBeCloseTo(1);
  expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
});

test('a segment counts by its frames, beside those that are done', () => {
  const half = wholeFraction({ stage: 'swapping', fraction: 0.5 }, allFrames);
  expect(
    wholeFraction({ stage: 'swapping', fraction: 0.5 }, { before: 40, own: 20, total: 100 }),
  ).toBeCloseTo(half);
});

test('what a task says never falls, also when it is tried again', () => {
  const said: number[] = [];
  const stages = { enter: (_stage: string, fraction: number) => said.push(fraction) };
  const meter = new SwapProgressMeter(stages as unknown as TaskStages);
  meter.swaps({ before: 50, own: 50, total: 100 });
  meter.onProgress({ stage: 'swapping', fraction: 0.5 });
  meter.onProgress({ stage: 'swapping', fraction: 0 });
  meter.enter('upload');
  meter.onProgress({ stage: 'checking', fraction: 1 });
  expect(said).toEqual(said.toSorted((a, b) => a - b));
  expect(said.at(-1)).toBeCloseTo(1);
});
