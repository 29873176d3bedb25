import { expect, it } from 'vitest';
import { planCamera } from '#workers/clip/camera/plan-camera.ts';
import { punchFactor, punchIns } from '#workers/clip/camera/punch-ins.ts';
import { madeAnalysis } from './made-analysis.ts';

const sentencesMs = Array.from({ length: 40 }, (_, index) => index * 3000);
const analysis = madeAnalysis({ sentencesMs, durationMs: 120_000 });

it('comes nearer at the start of a sentence, at most every 18 seconds of the clip', () => {
  const scenes = [
    { span: { startMs: 60_000, endMs: 100_000 }, clipStartMs: 0 },
    { span: { startMs: 10_000, endMs: 40_000 }, clipStartMs: 40_000 },
  ];
  const [first = [], second = []] = punchIns(analysis, scenes);
  const clipStarts = [
    ...first.map(({ startMs }) => startMs - 60_000),
    ...second.map(({ startMs }) => startMs + 30_000),
  ];
  expect(clipStarts.length).toBeGreaterThanOrEqual(3);
  for (const [index, start] of clipStarts.entries()) {
    if (index > 0) expect(start - (clipStarts[index - 1] ?? 0)).toBeGreaterThanOrEqual(18_000);
    // Half of the way there lies before the word.
    expect((start + 450) % 1000).toBe(0);
  }
});

it('does not disturb short scenes', () => {
  const scenes = [{ span: { startMs: 0, endMs: 6000 }, clipStartMs: 0 }];
  expect(punchIns(analysis, scenes)).toEqual([[]]);
});

it('goes there and back without a jerk, and changes nothing outside', () => {
  const punches = [{ startMs: 5000, endMs: 13_000 }];
  expect(punchFactor(punches, 4999)).toBe(1);
  expect(punchFactor(punches, 8000)).toBeCloseTo(0.9);
  expect(punchFactor(punches, 13_000)).toBe(1);
  let before = 1;
  for (let ms = 5000; ms <= 13_000; ms += 40) {
    const factor = punchFactor(punches, ms);
    expect(Math.abs(factor - before)).toBeLessThan(0.01);
    before = factor;
  }
});

it('leaves a face alone that fills the picture', () => {
  const face = { startMs: 0, endMs: 60_000, middle: () => ({ x: 640, y: 360 }), height: 400 };
  const made = madeAnalysis({ faces: [face], sentencesMs, durationMs: 60_000 });
  const [scene] = planCamera(made, [{ start_ms: 0, end_ms: 60_000 }], 'speaker-zoom').scenes;
  expect(scene?.layout.kind === 'crop' && scene.layout.path).toHaveLength(1);
});
