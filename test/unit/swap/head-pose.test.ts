import { describe, expect, test } from 'vitest';
import { readCanonicalMesh } from '#workers/media/faces/canonical-mesh.ts';
import { ModelStore } from '#workers/models/model-store.ts';
import { toImageAxes } from '#workers/swap/landmark/head-pose.ts';
import { identityShift, poseOf, shapeSpace, unposed } from '#workers/swap/landmark/identity-shape.ts';

const mesh = await readCanonicalMesh(await ModelStore.open());
const space = shapeSpace(mesh);
const canonical = toImageAxes(mesh.positions);

const offsets = [640, 360, 0] as const;

/** The canonical head, turned about the vertical axis, made larger and moved into a frame. */
function posed(points: Float32Array, yaw: number): Float32Array {
  const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
  return points.map((_, at) => {
    const first = at - (at % 3);
    const [x, y, z] = [points[first], points[first + 1], points[first + 2]] as [number, number, number];
    const turned = [cos * x + sin * z, y, cos * z - sin * x] as const;
    return (turned[at % 3] as number) * 20 + (offsets[at % 3] as number);
  });
}

describe('the pose of a head', () => {
  test.each([-0.6, 0, 0.7])('is found and taken out again (yaw %f)', (yaw) => {
    const points = posed(canonical, yaw);
    expect(poseOf(points, space).scale).toBeCloseTo(20, 3);
    const back = unposed(points, space);
    for (const [at, value] of canonical.entries()) expect(back[at]).toBeCloseTo(value, 2);
  });
});

describe('the shape that goes over', () => {
  test('is nothing between equal faces', () => {
    const shift = identityShift(canonical, canonical, space, 1);
    expect(Math.max(...shift.map(Math.abs))).toBeLessThan(1e-5);
  });

  test('widens the jaw for a source with a wide one, evenly on both sides and within bounds', () => {
    const wide = canonical.map((value, at) => (at % 3 === 0 ? value * 1.3 : value));
    const shift = identityShift(wide, canonical, space, 1);
    const [left, right] = [172 * 3, 397 * 3];
    expect(shift[right] as number).toBeGreaterThan(0.1);
    expect(shift[left] as number).toBeCloseTo(-(shift[right] as number), 2);
    for (let at = 0; at < shift.length; at += 3) {
      expect(Math.hypot(shift[at] as number, shift[at + 1] as number)).toBeLessThanOrEqual(0.91);
    }
  });

  test('leaves the chin alone where the source has its mouth wide open', () => {
    const open = canonical.map((value, at) => (at % 3 === 1 && value > 3 ? value + 1.5 : value));
    const calm = identityShift(open, canonical, space, 1);
    const wide = identityShift(open, canonical, space, 0);
    const chin = 152 * 3 + 1;
    expect(wide[chin] as number).toBeLessThan((calm[chin] as number) * 0.6);
  });
});
