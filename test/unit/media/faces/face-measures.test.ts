import { beforeAll, describe, expect, test } from 'vitest';
import { type CanonicalMesh, readCanonicalMesh } from '#workers/media/faces/canonical-mesh.ts';
import { eyeDistance, eyeOpening, headPose, lipOpening } from '#workers/media/faces/face-measures.ts';
import { decodeMesh, type FaceMesh, meshBox } from '#workers/media/faces/face-mesh.ts';
import { regionOfMesh } from '#workers/media/faces/mesh-region.ts';
import { ModelStore } from '#workers/models/model-store.ts';

let canonical: CanonicalMesh;

beforeAll(async () => {
  canonical = await readCanonicalMesh(await ModelStore.open());
});

/** The neutral face as a camera sees it, turned: yaw to the right of the picture, then pitch up, then roll clockwise. */
function turned(yaw: number, pitch: number, roll: number): FaceMesh {
  const points = new Float32Array(478 * 3);
  const [y, p, r] = [yaw, pitch, roll].map((degrees) => (degrees * Math.PI) / 180) as [
    number,
    number,
    number,
  ];
  for (let point = 0; point < 468; point += 1) {
    const [x = 0, up = 0, out = 0] = canonical.positions.subarray(point * 3, point * 3 + 3);
    // The camera's axes: x right, y down, z away.
    const [y0, z0] = [-up, -out];
    const [y1, z1] = [y0 * Math.cos(p) + z0 * Math.sin(p), z0 * Math.cos(p) - y0 * Math.sin(p)];
    const [x2, z2] = [x * Math.cos(y) - z1 * Math.sin(y), z1 * Math.cos(y) + x * Math.sin(y)];
    const [x3, y3] = [x2 * Math.cos(r) - y1 * Math.sin(r), x2 * Math.sin(r) + y1 * Math.cos(r)];
    points.set([300 + x3 * 10, 200 + y3 * 10, z2 * 10], point * 3);
  }
  return { points, presence: 1 };
}

describe('the pose of a head', () => {
  test.each([
    [0, 0, 0],
    [30, 0, 0],
    [-40, 0, 0],
    [0, 20, 0],
    [0, -25, 10],
    [25, 15, -20],
  ])('is found again: yaw %i, pitch %i, roll %i', (yaw, pitch, roll) => {
    const pose = headPose(turned(yaw, pitch, roll));
    // Roll and yaw do not commute; for the combined cases a few degrees are left over.
    const slack = roll !== 0 ? 9 : 1.5;
    expect(Math.abs(pose.yaw - yaw)).toBeLessThan(slack);
    expect(Math.abs(pose.pitch - pitch)).toBeLessThan(slack);
    expect(Math.abs(pose.roll - roll)).toBeLessThan(slack);
  });
});

describe('measures', () => {
  test('do not depend on where the head is turned', () => {
    expect(eyeDistance(turned(40, 10, 5))).toBeCloseTo(eyeDistance(turned(0, 0, 0)), 2);
  });

  test('the neutral face has its mouth shut and its eyes open', () => {
    expect(lipOpening(turned(0, 0, 0))).toBeLessThan(0.1);
    expect(eyeOpening(turned(0, 0, 0))).toBeGreaterThan(0.2);
  });

  test('a face is looked for again upright and with room around it', () => {
    const mesh = turned(0, 0, 20);
    const region = regionOfMesh(mesh);
    const box = meshBox(turned(0, 0, 0));
    expect((region.angle * 180) / Math.PI).toBeCloseTo(20, 1);
    expect(region.side).toBeCloseTo(Math.max(box.right - box.left, box.bottom - box.top) * 1.5, 1);
  });
});

test('a mesh comes out in pixels of the frame, refined where the model refines', () => {
  const raw = {
    mesh: new Float32Array(468 * 3).fill(96),
    lips: new Float32Array(160).fill(0),
    leftEye: new Float32Array(142).fill(96),
    rightEye: new Float32Array(142).fill(96),
    leftIris: new Float32Array(10).fill(192),
    rightIris: new Float32Array(10).fill(96),
    presenceLogit: 0,
  };
  const mesh = decodeMesh(raw, { centre: { x: 50, y: 60 }, side: 96, angle: 0 });
  expect(mesh.presence).toBe(0.5);
  expect([...mesh.points.slice(0, 3)]).toEqual([2, 12, 48]);
  expect([...mesh.points.slice(1 * 3, 1 * 3 + 3)]).toEqual([50, 60, 48]);
  expect([...mesh.points.slice(468 * 3, 468 * 3 + 3)]).toEqual([98, 108, 48]);
});

test('the neutral face has 468 points and 898 triangles', () => {
  expect(canonical.positions).toHaveLength(468 * 3);
  expect(canonical.textureCoordinates).toHaveLength(468 * 2);
  expect(canonical.triangles).toHaveLength(898 * 3);
});
