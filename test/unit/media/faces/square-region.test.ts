import { describe, expect, test } from 'vitest';
import { drawRegion, type SquareRegion, toFrame, wholeFrame } from '#workers/media/faces/square-region.ts';

const coding = { scale: 1, offset: 0 };

/** A frame whose red is the column, green the row, blue 100. */
function ramp(width: number, height: number) {
  const data = new Uint8Array(width * height * 3);
  for (let at = 0; at < width * height; at += 1) data.set([at % width, Math.floor(at / width), 100], at * 3);
  return { data, width, height };
}

function draw(frame: ReturnType<typeof ramp>, region: SquareRegion, size: number): Float32Array {
  const tensor = new Float32Array(size * size * 3);
  drawRegion(frame, region, size, coding, tensor);
  return tensor;
}

describe('a region drawn into a tensor', () => {
  test('of its own size is the picture itself', () => {
    const frame = ramp(8, 8);
    expect([...draw(frame, wholeFrame(frame), 8)]).toEqual([...frame.data]);
  });

  test('of half the size averages four pixels', () => {
    const tensor = draw(ramp(8, 8), { centre: { x: 4, y: 4 }, side: 8, angle: 0 }, 4);
    expect([...tensor.slice(0, 6)]).toEqual([0.5, 0.5, 100, 2.5, 0.5, 100]);
  });

  test('turned by nothing looks the same by either way of averaging', () => {
    const frame = ramp(60, 40);
    const upright = draw(frame, { centre: { x: 31, y: 17 }, side: 48, angle: 0 }, 16);
    const turned = draw(frame, { centre: { x: 31, y: 17 }, side: 48, angle: 1e-12 }, 16);
    expect([...upright]).toEqual([...turned]);
  });

  test('turned by a quarter has the frame’s rows as columns', () => {
    const tensor = draw(ramp(8, 8), { centre: { x: 4, y: 4 }, side: 8, angle: Math.PI / 2 }, 8);
    expect(tensor[0]).toBeCloseTo(7, 3);
    expect(tensor[1]).toBeCloseTo(0, 3);
    expect(tensor[3]).toBeCloseTo(7, 3);
    expect(tensor[4]).toBeCloseTo(1, 3);
  });

  test('that reaches over the frame’s edge is black there', () => {
    const tensor = draw(ramp(8, 4), wholeFrame({ ...ramp(8, 4) }), 8);
    expect([...tensor.slice(0, 3)]).toEqual([0, 0, 0]);
    expect([...tensor.slice(2 * 8 * 3, 2 * 8 * 3 + 3)]).toEqual([0, 0, 100]);
  });
});

test('points of a turned region lie where they are drawn from', () => {
  const region = { centre: { x: 10, y: 20 }, side: 8, angle: Math.PI / 2 };
  const point = toFrame(region, 1, 0.5);
  expect(point.x).toBeCloseTo(10);
  expect(point.y).toBeCloseTo(24);
});
