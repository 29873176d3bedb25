import { MediaFailure } from '#infra/media/media-failure.ts';
import { notMedia, type ProbedMedia, probe } from '#infra/media/probe.ts';
import { type Analysis, analyseSource } from './analyse-source.ts';
import { type Choice, chooseSegments, overlapMs, type Segment, shortestClipMs } from './choose-segments.ts';
import { clipTitle } from './clip-title.ts';
import type { ClipPlan, MissingClip, PipelineContext, PlanInput, PlannedClip } from './contract.ts';

/**
 * Decides what a job's clips show: probes and decodes the source once, chooses the stretches, and writes all of
 * it down as data. The same source and options give the same plan. Throws `MediaFailure`.
 */
export async function planClips(input: PlanInput, context: PipelineContext): Promise<ClipPlan> {
  context.onProgress({ stage: 'probing', fraction: 0 });
  const media = await probeVideo(input.sourcePath, context);
  const analysis = await analyseSource(input.sourcePath, media, context);
  if (analysis.durationMs < shortestClipMs) throw tooShort(analysis.durationMs);
  context.onProgress({ stage: 'choosing', fraction: 0 });
  const { num_clips: count, length_seconds: lengthSeconds } = input.options;
  const choice = chooseSegments(analysis, {
    count,
    lengthMs: lengthSeconds === null ? null : lengthSeconds * 1000,
  });
  return {
    version: 1,
    source: {
      duration_ms: analysis.durationMs,
      display_width: media.video.displayWidth,
      display_height: media.video.displayHeight,
      frames_per_second: media.video.framesPerSecond,
      has_audio: media.audio !== null,
      speech_ms: overlapMs(analysis.utterances, { startMs: 0, endMs: analysis.durationMs }),
      shot_count: analysis.shotsMs.length + 1,
    },
    clips: choice.segments.map((segment, item) => plannedClip(item, segment, choice, analysis, input)),
    missing: missingClips(choice, count),
  };
}

/** A probed file that certainly has a picture. */
export type VideoSource = ProbedMedia & { readonly video: NonNullable<ProbedMedia['video']> };

/** Probes a clip's source: it must be a video within the limits. Throws `MediaFailure`. */
export async function probeVideo(path: string, context: PipelineContext): Promise<VideoSource> {
  const media = await probe(path, context);
  if (media.type.kind !== 'video') throw notMedia(media.type);
  const { video } = media;
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has no video picture.');
  const durationMs = video.durationMs ?? media.durationMs ?? 0;
  if (durationMs > context.maxSourceDurationMs) {
    const limit = Math.round(context.maxSourceDurationMs / 60_000);
    throw new MediaFailure('SOURCE_TOO_LONG', `The source is longer than the limit of ${limit} minutes.`);
  }
  return { ...media, video };
}

function plannedClip(
  item: number,
  segment: Segment,
  choice: Choice,
  analysis: Analysis,
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
    black_ms: overlapMs(analysis.black, segment),
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
