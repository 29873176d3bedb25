import { expect, test } from 'vitest';
import { describeProgress } from '#infra/demo/progress-line.ts';
import { describeResult, dollars } from '#infra/demo/result.ts';

const wallet = { balance_cents: 1_850, total_spent_cents: 150, total_topped_up_cents: 2_000, active: true };

test('the result shows the files, the URL, the wallet and the replay', () => {
  const text = describeResult({
    clips: [{ clip_id: 7, status: 'completed', title: 'A title', download_url: 'http://s3/clip' }],
    files: [{ video: '/data/clip-7.mp4', contactSheet: '/data/clip-7.png' }],
    wallet,
    replay: 'seq  event\n',
  });
  for (const part of ['/data/clip-7.mp4', '/data/clip-7.png', 'A title', 'http://s3/clip', 'seq  event']) {
    expect(text).toContain(part);
  }
  expect(text).toContain('$20.00 topped up − $1.50 spent = $18.50');
});

test('a failed clip shows its reason', () => {
  const clips = [{ clip_id: 7, status: 'failed' as const, error: 'The video has no sound.' }];
  expect(describeResult({ clips, files: [undefined], wallet, replay: '' })).toContain(
    'Clip 7 failed: The video has no sound.',
  );
});

test('progress names the stage, or that nobody has begun', () => {
  expect(describeProgress({ completed: 0, total: 1, stage: 'rendering' })).toBe('rendering, 0 of 1 done');
  expect(describeProgress({ completed: 0, total: 2 })).toBe('waiting for a worker, 0 of 2 done');
});

test('cents are shown as dollars', () => {
  expect([0, 5, 1_850, -150].map(dollars)).toEqual(['$0.00', '$0.05', '$18.50', '-$1.50']);
});
