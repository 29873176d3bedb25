import { describe, expect, test } from 'vitest';
import { seededRandom } from '#test/seeded-random.ts';
import { ShotDetector, thumbnailBytes } from '#workers/media/shots/shot-detector.ts';

const random = seededRandom(7);

/** A picture of random blocks, and the same with noise as of compression. */
const scene = () => Uint8Array.from({ length: thumbnailBytes }, () => Math.floor(random() * 200));
const noisy = (picture: Uint8Array, noise = 4) =>
  picture.map((value) => Math.min(255, value + Math.floor(random() * noise)));

function measure(frames: readonly Uint8Array[]) {
  const detector = new ShotDetector(25);
  for (const frame of frames) detector.push(frame);
  return detector.finish();
}

const times = (count: number, picture: Uint8Array) => Array.from({ length: count }, () => noisy(picture));

describe('shots', () => {
  test('begin where the picture changes for good', () => {
    const [a, b, c] = [scene(), scene(), scene()];
    const measures = measure([...times(30, a), ...times(25, b), ...times(20, c)]);
    expect(measures.cutFrames).toEqual([30, 55]);
    expect(measures.frameCount).toBe(75);
  });

  test('are found at the very beginning and end', () => {
    const [a, b, c] = [scene(), scene(), scene()];
    expect(measure([...times(4, a), ...times(30, b), ...times(4, c)]).cutFrames).toEqual([4, 34]);
  });

  test('noise and slow changes are no cuts', () => {
    const a = scene();
    const dimming = Array.from({ length: 100 }, (_, index) => a.map((value) => value * (1 - index / 150)));
    expect(measure([...times(50, a), ...dimming]).cutFrames).toEqual([]);
  });

  test('a caption that appears is no cut', () => {
    const plain = scene();
    const captioned = plain.map((value, index) => (index > thumbnailBytes * 0.8 ? 255 - value : value));
    expect(measure([...times(30, plain), ...times(30, captioned)]).cutFrames).toEqual([]);
  });

  test('a flash is no cut', () => {
    const [a, white] = [scene(), new Uint8Array(thumbnailBytes).fill(255)];
    expect(measure([...times(30, a), ...times(2, white), ...times(30, a)]).cutFrames).toEqual([]);
  });

  test('a cut through one blended frame is one cut', () => {
    const [a, b] = [scene(), scene()];
    const blend = a.map((value, index) => (value + (b[index] ?? 0)) / 2);
    const { cutFrames } = measure([...times(30, a), blend, ...times(30, b)]);
    expect(cutFrames).toHaveLength(1);
    expect(Math.abs((cutFrames[0] ?? 0) - 30)).toBeLessThanOrEqual(1);
  });

  test('steady motion, however strong, is no cut, and is measured', () => {
    const measures = measure(Array.from({ length: 60 }, scene));
    expect(measures.cutFrames).toEqual([]);
    expect(measures.motion[1]).toBeGreaterThan(50);
    expect(measure(times(60, scene())).motion[1]).toBeLessThan(4);
  });
});
