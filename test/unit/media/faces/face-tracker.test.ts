import { describe, expect, test } from 'vitest';
import { type Sighting, trackFaces } from '#workers/media/faces/face-tracker.ts';

const face = (frame: number, left: number, size = 100): Sighting => ({
  frame,
  box: { left, top: 50, right: left + size, bottom: 50 + size },
});

/** A sample every 4 frames; each entry lists the left edges of the faces seen. */
function track(lefts: readonly (readonly number[])[], cutFrames: readonly number[] = []) {
  const samples = lefts.map((each, index) => ({
    frame: index * 4,
    faces: each.map((left) => face(index * 4, left)),
  }));
  const tracks = trackFaces(samples, { cutFrames, framesPerSample: 4 });
  return tracks.map((faces) => faces.map(({ frame }) => frame));
}

describe('tracks', () => {
  test('follow a face that moves', () => {
    expect(track([[0], [20], [40], [60]])).toEqual([[0, 4, 8, 12]]);
  });

  test('follow a face that moves evenly but fast, by where it must be next', () => {
    expect(track([[0], [30], [75], [120], [165]])).toEqual([[0, 4, 8, 12, 16]]);
  });

  test('keep two faces apart', () => {
    expect(
      track([
        [0, 300],
        [5, 300],
        [310, 8],
      ]),
    ).toEqual([
      [0, 4, 8],
      [0, 4, 8],
    ]);
  });

  test('bridge ten frames in which a face is not seen, and no more', () => {
    expect(track([[0], [0], [], [], [0], [0]])).toEqual([[0, 4, 16, 20]]);
    expect(track([[0], [0], [], [], [], [0], [0]])).toEqual([
      [0, 4],
      [20, 24],
    ]);
  });

  test('never go over a cut, even where the next face sits in the same place', () => {
    expect(track([[0], [0], [0], [0]], [7])).toEqual([
      [0, 4],
      [8, 12],
    ]);
    expect(track([[0], [0], [0], [0]], [8])).toEqual([
      [0, 4],
      [8, 12],
    ]);
  });

  test('a face seen only once is none, unless its shot is that short', () => {
    expect(track([[0], [0], [0, 500], [0]])).toEqual([[0, 4, 8, 12]]);
    expect(track([[0], [0], [500], [0], [0]], [8, 12])).toEqual([[0, 4], [8], [12, 16]]);
  });
});
