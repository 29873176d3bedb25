import { expect, test } from 'vitest';
import { type ClipReasons, describeReasons } from '#api/admin/clip-reasons.ts';

const reasons: ClipReasons = {
  clip_id: 17,
  plan: {
    title: 'Why it slipped',
    heading: 'Why it slipped',
    cuts: [
      { start_ms: 80_400, end_ms: 83_000 },
      { start_ms: 61_250, end_ms: 95_000 },
    ],
    hook: { kind: 'teaser', length_ms: 2_600 },
    camera: {
      mode: 'standard',
      scenes: [{ layout: { kind: 'blurred' } }, { layout: { kind: 'blurred' } }],
    },
    captions: { pages: [{}, {}] },
    music: true,
    score: { total: 0.714, parts: { payoff: 0.5, hook: 1 } },
    notes: ['No camera inset was found.'],
  },
  report: { loudness_lufs: -14.1, words_captioned: 40, damaged_frames: 0 },
  sheets: { clip: 'https://storage.example/17.png', source: 'https://storage.example/17.source.png' },
};

test('says in lines why a clip looks as it does, and where its frames are', () => {
  expect(describeReasons(reasons)).toEqual([
    'Clip 17: Why it slipped',
    '  shows     1:20.4 to 1:23.0, then 1:01.3 to 1:35.0',
    '  score     0.71 (payoff 0.50, hook 1.00)',
    '  hook      teaser of 2.6 s',
    '  camera    standard: 2 scenes (blurred)',
    '  heading   Why it slipped',
    '  captions  2 pages, 40 words',
    '  music     at 30%',
    '  loudness  -14.1 LUFS',
    '  note      No camera inset was found.',
    '  frames    https://storage.example/17.png',
    '  source    https://storage.example/17.source.png',
  ]);
});
