import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import type { PlannedClip } from '#workers/clip/contract.ts';
import { facesOnSheet } from '#workers/clip/sheet-moments.ts';
import { sourceDrawing } from '#workers/clip/source-drawing.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';

const column = (length: number, value: number): number[] => Array.from({ length }, () => value);
/** A face in the picture's middle in the first ten seconds, looked for four times a second. */
const sightings = 40;

const analysis = {
  display_width: 1_000,
  display_height: 500,
  picture: {
    frames_per_second: 12,
    frames_per_sample: 3,
    face_tracks: [
      {
        frames: column(sightings, 0).map((_, index) => index * 3),
        left: column(sightings, 4_000),
        top: column(sightings, 2_000),
        right: column(sightings, 6_000),
        bottom: column(sightings, 8_000),
      },
    ],
  },
} as unknown as SourceAnalysis;

const cuts = [
  { start_ms: 8_000, end_ms: 9_000 },
  { start_ms: 0, end_ms: 11_000 },
];
const box = { x: 100, y: 0, width: 281, height: 500 };
const word = { text: '<b>Fish & chips</b>', start_ms: 0, end_ms: 900 };

const clip: Pick<PlannedClip, 'camera' | 'captions' | 'faces'> = {
  camera: {
    mode: 'center-crop',
    scenes: cuts.map((cut) => ({ ...cut, layout: { kind: 'crop', path: [{ at_ms: 0, box }] } })),
    notes: [],
  },
  captions: { color: 'white', font: 'Anton', pages: [{ start_ms: 0, end_ms: 900, lines: [[word]] }] },
  faces: facesOnSheet(analysis, cuts),
};

describe('the sheet of source frames', () => {
  test('shows twelve moments of the clip, with the faces seen at those of the source', () => {
    expect(clip.faces.map(({ at_ms }) => at_ms)).toEqual([
      8_500, 500, 1_500, 2_500, 3_500, 4_500, 5_500, 6_500, 7_500, 8_500, 9_500, 10_500,
    ]);
    expect(clip.faces.map(({ boxes }) => boxes.length)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    expect(clip.faces[0]?.boxes).toEqual([{ x: 400, y: 100, width: 200, height: 300 }]);
  });

  test('is drawn over frames of its own size, and what was said is text in it', async () => {
    const frame = {
      index: 0,
      clipMs: 500,
      size: { width: 200, height: 100 },
      shown: { width: 1_000, height: 500 },
    };
    const svg = sourceDrawing(clip as PlannedClip, frame);
    expect(await sharp(svg).metadata()).toMatchObject({ format: 'svg', width: 200, height: 100 });
    const text = svg.toString();
    expect(text).toContain('x="80.0" y="20.0" width="40.0" height="60.0"');
    expect(text).toContain('x="20.0" y="0.0" width="56.2" height="100.0"');
    expect(text).toContain('&#60;b&#62;Fish &#38; chips&#60;/b&#62;');
  });
});
