import { MediaFailure } from '#infra/media/media-failure.ts';
import {
  type Choice,
  chooseSegments,
  type Material,
  overlapMs,
  type Segment,
  shortestClipMs,
} from './choose/choose-segments.ts';
import { clipTitle } from './choose/clip-title.ts';
import { materialOf } from './choose/material.ts';
import type { ClipPlan, MissingClip, PipelineContext, PlanInput, PlannedClip } from './contract.ts';

/**
 * Decides what a job's clips show: chooses the stretches by the source's analysis, and writes all of it down as
 * data. The same analysis and options give the same plan. Throws `MediaFailure`.
 */
export async function planClips(
  input: PlanInput,
  context: Pick<PipelineContext, 'onProgress'>,
): Promise<ClipPlan> {
  const { analysis } = input;
  const material = materialOf(analysis);
  if (material.durationMs < shortestClipMs) throw tooShort(material.durationMs);
  context.onProgress({ stage: 'choosing', fraction: 0 });
  const { num_clips: count, length_seconds: lengthSeconds } = input.options;
  const choice = chooseSegments(material, {
    count,
    lengthMs: lengthSeconds === null ? null : lengthSeconds * 1000,
  });
  return {
    version: 1,
    source: {
      duration_ms: material.durationMs,
      display_width: analysis.display_width,
      display_height: analysis.display_height,
      frames_per_second: analysis.frames_per_second,
      has_audio: analysis.sound !== null,
      speech_ms: overlapMs(material.utterances, { startMs: 0, endMs: material.durationMs }),
      shot_count: material.shotsMs.length + 1,
    },
    clips: choice.segments.map((segment, item) => plannedClip(item, segment, choice, material, input)),
    missing: missingClips(choice, count),
  };
}

function plannedClip(
  item: number,
  segment: Segment,
  choice: Choice,
  material: Material,
  input: PlanInput,
): PlannedClip {
  const title = clipTitle(input.sourceName, segment);
  return {
    item,
    title,
    heading: input.options.auto_heading ? title : null,
    cuts: [{ start_ms: segment.startMs, end_ms: segment.endMs }],
    camera_mode: input.options.camera_mode,
    score: segment.score,
    black_ms: overlapMs(material.black, segment),
    notes: choice.notes,
  };
}

function missingClips(choice: Choice, count: number): readonly MissingClip[] {
  const { shortfall } = choice;
  if (shortfall === null) return [];
  const found = choice.segments.length;
  return Array.from({ length: count - found }, (_, index) => ({ item: found + index, reason: shortfall }));
}

function tooShort(durationMs: number): MediaFailure {
  const seconds = (durationMs / 1000).toFixed(2);
  return new MediaFailure('TOO_SHORT', `The source is too short for a clip: it lasts ${seconds} seconds.`);
}
