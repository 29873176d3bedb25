import { describe, expect, test } from 'vitest';
import { faceSegments, persons } from '#workers/swap/faces/identity.ts';

/** Shapes of a single number: persons are whole numbers apart, shots of one person a hundredth. */
function track(first: number, last: number, shape: number, height = 100) {
  const frames = Array.from({ length: Math.floor((last - first) / 5) + 1 }, (_, index) => first + index * 5);
  return { frames, shape: Float32Array.of(shape), height };
}

const apart = (a: Float32Array, b: Float32Array): number => Math.abs((a[0] ?? 0) - (b[0] ?? 0));

describe('the one identity of a job', () => {
  test('is the person who is longest in the picture, over all shots', () => {
    const [anna, ben, annaAgain] = [track(0, 100, 1), track(105, 260, 2), track(300, 400, 1.01)];
    expect(persons([anna, ben, annaAgain], apart)[0]).toEqual([anna, annaAgain]);
  });

  test('never joins two faces of one moment, however alike they are', () => {
    const twins = [track(0, 100, 1), track(0, 100, 1)];
    expect(persons(twins, apart).map((each) => each.length)).toEqual([1, 1]);
  });

  test('is the larger face of two that are seen for the same time', () => {
    const [small, large] = [track(0, 100, 1, 80), track(0, 100, 2, 200)];
    expect(persons([small, large], apart)[0]).toEqual([large]);
  });
});

describe('segments', () => {
  const video = { frameCount: 500, framesPerSecond: 25, cutFrames: [200] };

  test('are padded by a quarter of a second and joined over short gaps', () => {
    expect(faceSegments([track(50, 80, 1), track(95, 120, 1)], video)).toEqual([
      { index: 0, first_frame: 44, end_frame: 127 },
    ]);
  });

  test('end at cuts', () => {
    expect(faceSegments([track(150, 195, 1), track(200, 300, 1)], video)).toEqual([
      { index: 0, first_frame: 144, end_frame: 200 },
      { index: 1, first_frame: 200, end_frame: 307 },
    ]);
  });

  test('stay inside the video', () => {
    expect(faceSegments([track(0, 495, 1)], { ...video, cutFrames: [] })).toEqual([
      { index: 0, first_frame: 0, end_frame: 500 },
    ]);
  });
});
