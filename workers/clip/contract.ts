import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ClipOptions } from '#schemas/records.ts';
import type { SourceAnalysis } from '../media/analysis/analysis-schema.ts';
import type { SpeechSettings } from '../media/speech/speech-settings.ts';
import type { Box, CameraPlan } from './camera/camera-plan.ts';
import type { LanguageModel } from './choose/choice-request.ts';
import type { Cut, Hook } from './choose/chosen-clip.ts';
import type { CaptionPlan, HeadingPlan } from './overlays/overlay-plan.ts';

/**
 * What the clip pipeline takes and gives. The pipeline knows nothing of Kafka or S3: it is given a
 * local source file and an empty folder, and leaves its results in that folder.
 */

/** JobRequested's clip options but for where the source is: all that a client can ask of a clip. */
export type PlanOptions = Omit<ClipOptions, 'video_url' | 'video_object_key' | 'video_file_name'>;

export type ProgressStage = 'fetching' | 'probing' | 'analysing' | 'choosing' | 'rendering' | 'checking';

export type StageProgress = {
  readonly stage: ProgressStage;
  /** How much of this stage is done, 0 to 1. */
  readonly fraction: number;
};

export type PipelineContext = {
  /** ffmpeg and ffprobe, located once at start by `locateMediaTools`. */
  readonly tools: MediaTools;
  /** An existing folder that belongs to this task alone; the caller removes it afterwards. */
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: StageProgress) => void;
  /** A source longer than this is refused (`SOURCE_MAX_DURATION`). */
  readonly maxSourceDurationMs: number;
  /** The operator's own models (`MODELS_DIR`). */
  readonly modelsFolder?: string | undefined;
  /** The speech model (`SPEECH_MODEL`), the bundled one unless given. */
  readonly speech?: SpeechSettings | undefined;
  /** Chooses and names the clips in place of our own rules, where the operator has one (`LLM_BASE_URL`). */
  readonly languageModel?: LanguageModel | undefined;
  /** The operator's own fonts (`FONTS_DIR`). */
  readonly fontsFolder?: string | undefined;
};

/** Fetching a source by its URL: `fetchSource(input, context, sources)` in `fetch-source.ts`. */
export type FetchInput = {
  readonly url: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
};

export type FetchContext = Pick<
  PipelineContext,
  'taskFolder' | 'signal' | 'onProgress' | 'maxSourceDurationMs'
>;

/** A source that lies in the task's folder, told to be a video by its content. */
export type FetchedSource = {
  readonly path: string;
  /** For example `video/mp4`, judged by content. */
  readonly contentType: string;
  /** What a hosting platform calls it; null for a direct link. */
  readonly title: string | null;
};

/** What the source is called, for titles. */
export type SourceName = {
  /** What a hosting platform calls it; goes before its file's name. */
  readonly title: string | null;
  /** The URL's last path part or the upload's file name. */
  readonly fileName: string;
};

/** Planning all clips of a job: `planClips(input, context)`. */
export type PlanInput = {
  readonly analysis: SourceAnalysis;
  readonly sourceName: SourceName;
  readonly options: PlanOptions;
};

/** Where faces are at a moment of the source, in pixels of its picture as shown: for people who look at a plan. */
export type SeenFaces = { readonly at_ms: number; readonly boxes: readonly Box[] };

export type PlannedClip = {
  /** The clip's number in its job, 0 to `num_clips` - 1. */
  readonly item: number;
  readonly title: string;
  /** The heading's text when the job asked for one, else null. */
  readonly heading: string | null;
  /** In the order in which they play; a teaser stands first. */
  readonly cuts: readonly Cut[];
  readonly hook: Hook | null;
  readonly camera: CameraPlan;
  /** How the heading is drawn; null where there is none. */
  readonly heading_overlay: HeadingPlan | null;
  /** Null where none were asked for. */
  readonly captions: CaptionPlan | null;
  /** Whether the job's music plays below it. */
  readonly music: boolean;
  /** Why this stretch was chosen, for people who look at a plan. */
  readonly score: { readonly total: number; readonly parts: Readonly<Record<string, number>> };
  /** How much of it is black in the source itself; more than that in the result is a fault of ours. */
  readonly black_ms: number;
  /** At the moments that the clip's sheet of source frames shows. */
  readonly faces: readonly SeenFaces[];
  /** What a person should know, such as another camera mode than the one asked for. */
  readonly notes: readonly string[];
};

/** A clip that the source does not give: it fails with `reason`, a sentence for the client. */
export type MissingClip = { readonly item: number; readonly reason: string };

/** What was measured on the source when planning. */
export type PlannedSource = {
  /** As decoded, which can be less than the headers promise. */
  readonly duration_ms: number;
  /** Size as shown, after rotation and sample aspect. */
  readonly display_width: number;
  readonly display_height: number;
  readonly frames_per_second: number;
  readonly has_audio: boolean;
  readonly speech_ms: number;
  readonly shot_count: number;
};

/** Of what a plan holds: a worker neither reads nor renders another version. */
export const planVersion = 2;

/** The whole job's plan: plain JSON, kept in S3 beside the source, the same for every retry. */
export type ClipPlan = {
  readonly version: typeof planVersion;
  readonly source: PlannedSource;
  readonly clips: readonly PlannedClip[];
  readonly missing: readonly MissingClip[];
};

/** Rendering one clip of a plan: `renderClip(input, context)`. */
export type RenderInput = {
  readonly sourcePath: string;
  readonly plan: ClipPlan;
  readonly item: number;
  /** The job's music, where its plan has some. */
  readonly musicPath: string | null;
};

/** The finished clip, checked, in the task's folder. */
export type RenderedClip = {
  readonly item: number;
  /** H.264/AAC MP4, 1080x1920. */
  readonly path: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  /** A PNG grid of the clip's frames with their times. */
  readonly contactSheetPath: string;
  /** A PNG grid of the source's frames with the camera's box and its path, faces, and the words captioned. */
  readonly sourceSheetPath: string;
  /** What was measured on the result: kept as JSON beside the clip. */
  readonly report: ClipReport;
};

/** Figures of a finished clip. */
export type ClipReport = {
  readonly frames_per_second: number;
  /** Integrated, EBU R128; null for silence. */
  readonly loudness_lufs: number | null;
  readonly true_peak_dbfs: number | null;
  readonly black_ms: number;
  readonly audio_minus_video_ms: number;
  readonly loudness_normalised: boolean;
  /** The one that was used, which can be another than the one asked for. */
  readonly camera_mode: string;
  readonly words_captioned: number;
  /** Of the source's frames in the clip, those that were damaged and could be shown only in part. */
  readonly damaged_frames: number;
};
