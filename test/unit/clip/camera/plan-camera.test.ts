import { describe, expect, it } from 'vitest';
import { type Box, type CameraPlan, cameraModes } from '#workers/clip/camera/camera-plan.ts';
import { planCamera } from '#workers/clip/camera/plan-camera.ts';
import { boxBetween } from '#workers/clip/camera/reduce-path.ts';
import { type MadeFace, madeAnalysis } from './made-analysis.ts';

const whole = { start_ms: 0, end_ms: 10_000 };

function boxesOf(plan: CameraPlan): readonly Box[] {
  return plan.scenes.flatMap(({ layout }) => {
    if (layout.kind === 'crop') return layout.path.map(({ box }) => box);
    return layout.kind === 'stacked' ? [layout.above, layout.below] : [layout.picture];
  });
}

function boxAtMs(plan: CameraPlan, ms: number): Box {
  const scene = plan.scenes.find(({ start_ms, end_ms }) => start_ms <= ms && ms < end_ms);
  if (scene?.layout.kind !== 'crop') throw new Error('no crop is shown');
  const { path } = scene.layout;
  const after = path.findIndex(({ at_ms }) => at_ms > ms);
  const last = path[after < 0 ? path.length - 1 : Math.max(0, after - 1)];
  const next = path[after] ?? last;
  if (last === undefined || next === undefined) throw new Error('the path is empty');
  return last === next ? last.box : boxBetween(last, next, ms);
}

const still = (x: number, extra: Partial<MadeFace> = {}): MadeFace => ({
  startMs: 0,
  endMs: 10_000,
  middle: () => ({ x, y: 260 }),
  height: 150,
  ...extra,
});
const talking = (ms: number): number => 0.06 + 0.06 * Math.sin(ms / 60);

describe('planCamera', () => {
  it('shows the whole picture, or its middle, in one scene a cut', () => {
    const cuts = [
      { start_ms: 2000, end_ms: 4000 },
      { start_ms: 0, end_ms: 1000 },
    ];
    const standard = planCamera(madeAnalysis({}), cuts, 'standard');
    expect(standard.scenes).toEqual(
      cuts.map((cut) => ({
        ...cut,
        layout: { kind: 'blurred', picture: { x: 0, y: 0, width: 1280, height: 720 } },
      })),
    );
    const [scene] = planCamera(madeAnalysis({}), cuts, 'center-crop').scenes;
    const box = { x: 437.5, y: 0, width: 405, height: 720 };
    expect(scene?.layout).toEqual({ kind: 'crop', path: [{ at_ms: 2000, box }] });
  });

  it('keeps still on a still face and has all of it in view', () => {
    const analysis = madeAnalysis({ faces: [still(300)] });
    for (const mode of ['active-speaker', 'speaker-zoom'] as const) {
      const boxes = boxesOf(planCamera(analysis, [whole], mode));
      expect(boxes).toHaveLength(1);
      const [box] = boxes;
      expect(box?.x).toBeLessThan(240);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeGreaterThan(360);
    }
  });

  it('comes near to a face: 28% of the height, eyes in the upper third', () => {
    const [box] = boxesOf(planCamera(madeAnalysis({ faces: [still(640)] }), [whole], 'speaker-zoom'));
    expect(150 / (box?.height ?? 1)).toBeCloseTo(0.28, 2);
    const eyes = (260 - 18 - (box?.y ?? 0)) / (box?.height ?? 1);
    expect(eyes).toBeGreaterThan(0.25);
    expect(eyes).toBeLessThan(0.36);
  });

  it('never zooms in more than 2.5 times', () => {
    const [box] = boxesOf(
      planCamera(madeAnalysis({ faces: [still(640, { height: 40 })] }), [whole], 'speaker-zoom'),
    );
    expect(720 / (box?.height ?? 1)).toBeLessThanOrEqual(2.5);
  });

  it('cuts to who speaks when the mouth opens, and back', () => {
    const left = (ms: number): boolean => ms < 4000 || ms >= 7000;
    const faces = [
      still(300, { lips: (ms) => (left(ms) ? talking(ms) : 0.01) }),
      still(960, { lips: (ms) => (left(ms) ? 0.01 : talking(ms)) }),
    ];
    const plan = planCamera(madeAnalysis({ faces, loudness: () => -18 }), [whole], 'active-speaker');
    expect(plan.scenes).toHaveLength(3);
    expect(plan.scenes[1]?.start_ms).toBeGreaterThan(3500);
    expect(plan.scenes[1]?.start_ms).toBeLessThan(4800);
    expect(plan.scenes[2]?.start_ms).toBeLessThan(7800);
    expect(boxAtMs(plan, 5500).x).toBeGreaterThan(640);
    expect(boxAtMs(plan, 9000).x).toBeLessThan(640);
  });

  it('stays with the speaker when the other only opens the mouth for a moment', () => {
    const faces = [
      still(300, { lips: talking }),
      still(960, { lips: (ms) => (ms > 5000 && ms < 5500 ? 0.2 : 0.01) }),
    ];
    const plan = planCamera(madeAnalysis({ faces, loudness: () => -18 }), [whole], 'active-speaker');
    expect(plan.scenes).toHaveLength(1);
    expect(boxAtMs(plan, 5200).x).toBeLessThan(640);
  });

  it('shows as many faces as it can where nobody is known to speak', () => {
    const faces = [still(200), still(700), still(860), still(1150)];
    for (const mode of ['active-speaker', 'speaker-zoom'] as const) {
      const boxes = boxesOf(planCamera(madeAnalysis({ faces }), [whole], mode));
      expect(boxes).toHaveLength(1);
      expect(boxes[0]?.x).toBeLessThanOrEqual(640);
      expect((boxes[0]?.x ?? 0) + (boxes[0]?.width ?? 0)).toBeGreaterThanOrEqual(920);
    }
  });

  it('begins a scene at each cut of the source, and never moves over one', () => {
    const faces = [still(300, { endMs: 4000 }), still(900, { startMs: 4000 })];
    const plan = planCamera(madeAnalysis({ faces, cutsMs: [4000] }), [whole], 'active-speaker');
    expect(plan.scenes.map(({ start_ms }) => start_ms)).toEqual([0, 4000]);
    expect(boxesOf(plan)).toHaveLength(2);
  });

  it('follows a walk smoothly, no faster than 0.4 widths a second, with the face in view', () => {
    const walk = still(0, { middle: (ms) => ({ x: 200 + ms * 0.08, y: 260 }), height: 120 });
    const plan = planCamera(madeAnalysis({ faces: [walk] }), [whole], 'active-speaker');
    let before = boxAtMs(plan, 0);
    for (let ms = 100; ms < 9900; ms += 100) {
      const box = boxAtMs(plan, ms);
      expect(Math.abs(box.x - before.x) / box.width).toBeLessThanOrEqual(0.041);
      const middle = 200 + ms * 0.08;
      expect(box.x).toBeLessThanOrEqual(Math.max(0, middle - 48) + 1);
      expect(box.x + box.width).toBeGreaterThanOrEqual(middle + 47);
      before = box;
    }
  });

  it('stacks the inset over the game, in no more than 40% of the height', () => {
    const inset = { start_ms: 0, end_ms: 10_000, left: 156, top: 6389, right: 2656, bottom: 9722 };
    const faces = [still(180, { middle: () => ({ x: 180, y: 560 }), height: 90 })];
    const plan = planCamera(madeAnalysis({ faces, insets: [inset] }), [whole], 'facecam');
    expect(plan.mode).toBe('facecam');
    const [scene] = plan.scenes;
    if (scene?.layout.kind !== 'stacked') throw new Error('not stacked');
    const { above, below, above_share: share } = scene.layout;
    expect(share).toBeLessThanOrEqual(0.4);
    expect(above.width / above.height).toBeCloseTo(1080 / (1920 * share), 3);
    expect(below.width / below.height).toBeCloseTo(1080 / (1920 * (1 - share)), 3);
    expect(below.x).toBeGreaterThan(340);
  });

  it('says so when there is no camera inset', () => {
    const plan = planCamera(madeAnalysis({ faces: [still(640)] }), [whole], 'facecam');
    expect(plan.mode).toBe('standard');
    expect(plan.notes.join()).toContain('No camera inset');
  });

  it('never shows bars', () => {
    const barAreas = [{ start_ms: 0, end_ms: 10_000, left: 0, top: 1200, right: 10_000, bottom: 8800 }];
    const analysis = madeAnalysis({ faces: [still(300)], barAreas });
    for (const mode of cameraModes) {
      for (const box of boxesOf(planCamera(analysis, [whole], mode))) {
        expect(box.y).toBeGreaterThanOrEqual(720 * 0.12 - 0.01);
        expect(box.y + box.height).toBeLessThanOrEqual(720 * 0.88 + 0.01);
      }
    }
  });

  it.each([
    ['4K', 3840, 2160],
    ['square', 720, 720],
    ['portrait', 1080, 1920],
    ['taller than 9:16', 900, 2000],
    ['tiny', 64, 36],
    ['odd', 321, 241],
  ])('keeps its boxes 9:16 and inside a %s picture', (_, width, height) => {
    const middle = (ms: number): { x: number; y: number } => ({ x: (width * ms) / 10_000, y: height * 0.3 });
    const faces = [{ startMs: 0, endMs: 8000, middle, height: height * 0.2 }];
    const analysis = madeAnalysis({ width, height, faces });
    for (const mode of ['center-crop', 'speaker-zoom', 'active-speaker'] as const) {
      for (const box of boxesOf(planCamera(analysis, [whole], mode))) {
        expect(box.width / box.height).toBeCloseTo(9 / 16, 3);
        expect(box.x).toBeGreaterThanOrEqual(-0.01);
        expect(box.y).toBeGreaterThanOrEqual(-0.01);
        expect(box.x + box.width).toBeLessThanOrEqual(width + 0.01);
        expect(box.y + box.height).toBeLessThanOrEqual(height + 0.01);
      }
    }
  });

  it('covers every cut without a gap, and gives the same plan again', () => {
    const cuts = [
      { start_ms: 6000, end_ms: 7500 },
      { start_ms: 1000, end_ms: 6000 },
    ];
    const analysis = madeAnalysis({ faces: [still(300, { startMs: 3000 })], cutsMs: [2000, 6500] });
    for (const mode of cameraModes) {
      const plan = planCamera(analysis, cuts, mode);
      const borders = plan.scenes.map(({ start_ms, end_ms }) => [start_ms, end_ms]);
      expect(borders[0]?.[0]).toBe(6000);
      expect(borders.at(-1)?.[1]).toBe(6000);
      const gaps = borders.slice(1).filter(([start], index) => start !== borders[index]?.[1]);
      expect(gaps.map(([start]) => start)).toEqual([1000]);
      expect(planCamera(analysis, cuts, mode)).toEqual(plan);
    }
  });
});
