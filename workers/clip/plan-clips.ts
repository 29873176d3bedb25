import { MediaFailure } from '#infra/media/media-failure.ts';
import type { SourceAnalysis } from '../media/analysis/analysis-schema.ts';
import { childEmbedder } from '../media/text/child-embedder.ts';
import { type CameraMode, type CameraPlan, cameraModes } from './camera/camera-plan.ts';
import { planCamera } from './camera/plan-camera.ts';
import { chooseClips } from './choose/choose-clips.ts';
import type { ChosenClip, ChosenClips, Cut } from './choose/chosen-clip.ts';
import { shortestClipMs } from './choose/clip-durations.ts';
import { isNonsense } from './choose/transcript.ts';
import { playedMs } from './clip-timeline.ts';
import {
  type ClipPlan,
  type MissingClip,
  type PipelineContext,
  type PlanInput,
  type PlannedClip,
  type PlannedSource,
  planVersion,
} from './contract.ts';
import { wordsInClipTime } from './overlays/clip-words.ts';
import type { HeadingPlan } from './overlays/overlay-plan.ts';
import { planCaptions } from './overlays/plan-captions.ts';
import { planHeading } from './overlays/plan-heading.ts';
import { clipHeight } from './render-order.ts';
import { facesOnSheet } from './sheet-moments.ts';

/** Between a band's lower edge and the heading, in the clip's pixels. */
const bandGap = 30;
/** Whoever ordered the clip should know why it goes by pauses, pictures and loudness alone. */
const foreignNote =
  'What is said in the source was not understood, as with a language that the speech model does not know: its words were not used for captions, titles and the choice.';

/**
 * Decides what a job's clips show, and writes all of it down as data: the stretches, the camera's way, and what is
 * drawn and played over them. The same analysis and options give the same plan. Throws `MediaFailure`.
 */
export async function planClips(input: PlanInput, context: PipelineContext): Promise<ClipPlan> {
  const { analysis, options, sourceName } = input;
  if (analysis.duration_ms < shortestClipMs) throw tooShort(analysis.duration_ms);
  context.onProgress({ stage: 'choosing', fraction: 0 });
  const chosen = await chooseClips(
    analysis,
    { ...options, sourceName },
    {
      embedder: childEmbedder(context),
      languageModel: context.languageModel,
      signal: context.signal,
    },
  );
  context.onProgress({ stage: 'choosing', fraction: 1 });
  const isForeign = isNonsense(analysis.sound?.words ?? []);
  return {
    version: planVersion,
    source: plannedSource(analysis),
    clips: chosen.clips.map((clip, item) => plannedClip(item, clip, { ...input, isForeign })),
    missing: missingClips(chosen, options.num_clips),
  };
}

function plannedSource(analysis: SourceAnalysis): PlannedSource {
  const utterances = analysis.sound?.utterances ?? [];
  return {
    duration_ms: analysis.duration_ms,
    display_width: analysis.display_width,
    display_height: analysis.display_height,
    frames_per_second: analysis.frames_per_second,
    has_audio: analysis.sound !== null,
    speech_ms: covered(utterances, { start_ms: 0, end_ms: analysis.duration_ms }),
    shot_count: analysis.picture.cut_frames.length + 1,
  };
}

/** What was ordered, and whether all words of its source are those of a language that was not understood. */
type HeardInput = PlanInput & { readonly isForeign: boolean };

function plannedClip(item: number, chosen: ChosenClip, input: HeardInput): PlannedClip {
  const { analysis, options, isForeign } = input;
  const { cuts } = chosen;
  const camera = planCamera(analysis, cuts, cameraMode(options.camera_mode));
  const heading = belowCamera(planHeading(chosen.heading, options.heading, playedMs(cuts)), camera);
  const heard = analysis.sound?.words ?? [];
  const captions = planCaptions(wordsInClipTime(heard, cuts), options.captions, isForeign);
  return {
    item,
    title: chosen.title,
    heading: heading?.text ?? null,
    cuts,
    hook: chosen.hook,
    camera,
    heading_overlay: heading,
    captions: captions.plan,
    music: options.music_url !== null || options.music_object_key !== null,
    score: chosen.score,
    black_ms: cuts.reduce((sum, cut) => sum + covered(analysis.picture.black, cut), 0),
    faces: facesOnSheet(analysis, cuts),
    notes: [
      ...new Set([...chosen.notes, ...camera.notes, ...captions.notes, ...(isForeign ? [foreignNote] : [])]),
    ],
  };
}

/** Where the camera's inset fills the upper band, a heading goes below it, and not over the face in it. */
function belowCamera(heading: HeadingPlan | null, { scenes }: CameraPlan): HeadingPlan | null {
  const shares = scenes.map(({ layout }) => (layout.kind === 'stacked' ? layout.above_share : 0));
  const share = Math.max(0, ...shares);
  if (heading === null || share === 0) return heading;
  return { ...heading, below_px: Math.round(share * clipHeight) + bandGap };
}

/** A mode that this worker does not know was ordered through a newer API. */
function cameraMode(name: string): CameraMode {
  const known = cameraModes.find((mode) => mode === name);
  if (known !== undefined) return known;
  throw new MediaFailure('NOT_SUPPORTED', `The camera mode ${name} is not available.`);
}

/** How much of a stretch the spans cover, in milliseconds. */
function covered(spans: readonly Cut[], stretch: Cut): number {
  return spans.reduce((sum, { start_ms, end_ms }) => {
    return sum + Math.max(0, Math.min(end_ms, stretch.end_ms) - Math.max(start_ms, stretch.start_ms));
  }, 0);
}

function missingClips({ clips, shortfall }: ChosenClips, count: number): readonly MissingClip[] {
  const reason = shortfall ?? 'The source does not give another good clip.';
  const found = clips.length;
  return Array.from({ length: Math.max(0, count - found) }, (_, index) => ({ item: found + index, reason }));
}

function tooShort(durationMs: number): MediaFailure {
  const seconds = (durationMs / 1000).toFixed(2);
  return new MediaFailure('TOO_SHORT', `The source is too short for a clip: it lasts ${seconds} seconds.`);
}
