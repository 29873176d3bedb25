import { describe, expect, test } from 'vitest';
import { plainClipOptions } from '#test/plain-clip-options.ts';
import type { PipelineContext, PlanOptions } from '#workers/clip/contract.ts';
import { planClips } from '#workers/clip/plan-clips.ts';
import type { SourceAnalysis } from '#workers/media/analysis/analysis-schema.ts';
import { syntheticAnalysis } from './choose/synthetic-analysis.ts';

/** Where nothing is said nothing is embedded, so no child process is started. */
const context: PipelineContext = {
  tools: { ffmpegPath: '', ffprobePath: '', prlimitPath: undefined, setprivPath: undefined },
  taskFolder: '/nonexistent',
  signal: new AbortController().signal,
  onProgress: () => undefined,
  maxSourceDurationMs: 3_600_000,
};

const silent = (durationMs: number): SourceAnalysis => syntheticAnalysis({ durationMs, hasSound: false });
/** A camera's picture in the lower left corner, all of the time. */
const inset = { start_ms: 0, end_ms: 20_000, left: 200, top: 6_000, right: 3_000, bottom: 9_800 };

function withInset(analysis: SourceAnalysis): SourceAnalysis {
  return { ...analysis, picture: { ...analysis.picture, insets: [inset] } };
}

const planned = (analysis: SourceAnalysis, options: Partial<PlanOptions> = {}) =>
  planClips(
    {
      analysis,
      sourceName: { title: null, fileName: 'board_meeting.mp4' },
      options: { ...plainClipOptions, ...options },
    },
    context,
  );

describe('planning', () => {
  test('a camera mode that cannot apply is another one, and a note says so', async () => {
    const { clips } = await planned(silent(20_000), { camera_mode: 'facecam' });
    expect(clips[0]?.camera.mode).toBe('standard');
    expect(clips[0]?.notes.join(' ')).toContain('No camera inset was found');
  });

  test('a heading at the top stands below the picture of a face camera, not over the face', async () => {
    const { clips } = await planned(withInset(silent(20_000)), { camera_mode: 'facecam' });
    const [clip] = clips;
    const layout = clip?.camera.scenes[0]?.layout;
    if (layout?.kind !== 'stacked') throw new Error(`facecam is ${layout?.kind}`);
    expect(clip?.heading_overlay?.below_px).toBe(Math.round(layout.above_share * 1920) + 30);
    const { clips: others } = await planned(silent(20_000));
    expect(others[0]?.heading_overlay).not.toHaveProperty('below_px');
  });

  test('captions without speech are none, which is said', async () => {
    const captions = { enabled: true, color: 'white', font: 'Anton' };
    const { clips } = await planned(silent(20_000), { captions });
    expect(clips[0]).toMatchObject({ captions: null });
    expect(clips[0]?.notes).toContain('The clip has no captions: nothing is said in it.');
  });

  test('words of a language that the speech model does not know are not used, which is said', async () => {
    const texts = ['Zug bla vor.', 'Guy a new tag mine.', 'The hate much day.', 'Or it a hen.'];
    const sentences = texts.map((text, at) => ({
      ...{ text, startMs: 1_000 + at * 4_000 },
      // Some of it always comes out as if it were English.
      confidence: at === 1 ? 0.9 : 0.4,
    }));
    const captions = { enabled: true, color: 'white', font: 'Anton' };
    const { clips } = await planned(syntheticAnalysis({ durationMs: 20_000, sentences }), { captions });
    expect(clips[0]).toMatchObject({ captions: null });
    expect(clips[0]?.title).toMatch(/^Board meeting/);
    const notes = clips[0]?.notes.join(' ');
    expect(notes).toContain('The clip has no captions: what is said in it was not understood.');
    expect(notes).toContain('a language that the speech model does not know');
  });

  test('without a heading nothing is drawn, and none is told', async () => {
    const { clips } = await planned(silent(20_000), { auto_heading: false });
    expect(clips[0]).toMatchObject({ heading: null, heading_overlay: null });
  });

  test('music by either way is planned', async () => {
    for (const music of [{ music_url: 'https://example.com/a.mp3' }, { music_object_key: 'uploads/a/music' }])
      expect((await planned(silent(20_000), music)).clips[0]?.music).toBe(true);
    expect((await planned(silent(20_000))).clips[0]?.music).toBe(false);
  });

  test('clips that the source does not give are missing, with the reason', async () => {
    const { clips, missing } = await planned(silent(20_000), { num_clips: 5 });
    expect(clips.length + missing.length).toBe(5);
    expect(missing.map(({ item }) => item)).toEqual(missing.map((_, index) => clips.length + index));
    expect(missing[0]?.reason).toMatch(/^[A-Z].*\.$/);
  });

  test('what cannot be planned fails for good, with a sentence', async () => {
    await expect(planned(silent(400))).rejects.toMatchObject({ code: 'TOO_SHORT', retryable: false });
    const newer = planned(silent(20_000), { camera_mode: 'orbit' });
    await expect(newer).rejects.toMatchObject({ code: 'NOT_SUPPORTED', retryable: false });
  });
});
