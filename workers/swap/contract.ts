import type { MediaTools } from '#infra/media/media-tools.ts';

/**
 * What the face swap gives to the job runtime. Like the clip pipeline it knows nothing of Kafka or S3: it is
 * given local files and an empty folder, and leaves its results in that folder. All of it fails only with
 * `MediaFailure`: FACE_NOT_USABLE and NOT_AN_IMAGE for the image, NO_FACE and the usual codes for the video;
 * `message` is the sentence for the client.
 *
 * | function | in | does |
 * | --- | --- | --- |
 * | `examineFaceImage(path, context)` | examine-face-image.ts | reads the image, chooses the face; some 0.5 s |
 * | `scanFaces(videoPath, context)` | scan-faces.ts | the plan of a video: one decode, about 0.1 of its time |
 * | `swapWhole(input, context)` | swap-whole.ts | mode `face`: the finished video in one streaming pass |
 * | `swapSegment(input, context)` | swap-segment.ts | mode `fullbody`: one segment of the plan |
 * | `stitch(input, context)` | stitch.ts | mode `fullbody`: the finished video out of all its segments |
 * | `assertSwapEngine(settings, modelsFolder)` | engine/open-engine.ts | at start: throws `SwapEngineNotConfigured` |
 */

export type SwapEngineName = 'landmark' | 'neural';

/** Which engine swaps, and what is drawn on the result: from the config, the same for all tasks of a worker. */
export type SwapSettings = {
  /** `SWAP_ENGINE`. */
  readonly engine: SwapEngineName;
  /** `SWAP_LABEL`: drawn small into the lower left corner of every frame; null draws nothing. */
  readonly label: string | null;
  /** `SWAP_MODELS_LICENCE_ACKNOWLEDGED`: the neural engine's models are licensed for the operator's use. */
  readonly isLicenceAcknowledged: boolean;
};

export type SwapStage = 'examining' | 'scanning' | 'swapping' | 'stitching' | 'checking';

export type SwapProgress = {
  readonly stage: SwapStage;
  /** How much of this call's stage is done, 0 to 1; never falls within one call. */
  readonly fraction: number;
};

export type SwapContext = {
  /** ffmpeg and ffprobe, located once at start by `locateMediaTools`. */
  readonly tools: MediaTools;
  /** An existing folder that belongs to this task alone; the caller removes it afterwards. */
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SwapProgress) => void;
  /** A video longer than this is refused with SOURCE_TOO_LONG (`FACE_SWAP_MAX_DURATION`). */
  readonly maxSourceDurationMs: number;
  /** The operator's own models (`MODELS_DIR`). */
  readonly modelsFolder?: string | undefined;
  readonly settings: SwapSettings;
};

/** In pixels of the image as shown, after EXIF orientation. */
export type ImageBox = {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
};

/** The face of the image that will be put into the video. Plain JSON. */
export type ExaminedFace = {
  /** As shown, after EXIF orientation. */
  readonly image_width: number;
  readonly image_height: number;
  /** All faces found, the chosen one among them. */
  readonly face_count: number;
  readonly chosen: ImageBox;
  /** Degrees; positive when the face looks to the right edge of the picture, and up. */
  readonly yaw: number;
  readonly pitch: number;
  /** Sentences for the client, such as that the largest of several faces was taken. */
  readonly notes: readonly string[];
};

/** A stretch of frames, `first_frame` included and `end_frame` not; numbers count decoded frames from 0. */
export type SwapSegment = {
  /** 0, 1, 2 …: its number in the plan. */
  readonly index: number;
  readonly first_frame: number;
  readonly end_frame: number;
};

/**
 * Where the job's one face is in one shot: columns of equal length, a row for each frame that was looked at.
 * Boxes are pixels of the video as shown.
 */
export type IdentityTrack = {
  readonly frames: readonly number[];
  readonly left: readonly number[];
  readonly top: readonly number[];
  readonly right: readonly number[];
  readonly bottom: readonly number[];
};

/**
 * When frames are shown: at a constant rate (`30000/1001` frames a second), or each at its own time in units of
 * `time_base` seconds.
 */
export type FrameTiming =
  | { readonly kind: 'constant'; readonly rate: string }
  | { readonly kind: 'variable'; readonly time_base: string; readonly times: readonly number[] };

/** The plan of a job's swap: plain JSON, made once, kept in S3, the same for every task and retry. */
export type SwapPlan = {
  readonly version: 1;
  /** As really decoded: the result has exactly as many. */
  readonly frame_count: number;
  readonly timing: FrameTiming;
  /** Of the picture as shown and as the result has it: even, after rotation. */
  readonly width: number;
  readonly height: number;
  /** Frames with the job's one face, padded and joined; ascending, not overlapping. Each is a task in `fullbody`. */
  readonly segments: readonly SwapSegment[];
  /** The job's one identity: the face that is longest in the picture, in all shots where it was found again. */
  readonly identity: readonly IdentityTrack[];
  /** The first frame of each new shot but the first, ascending. */
  readonly cut_frames: readonly number[];
  /**
   * The identity's face at rest, pose taken out: 468 points of x, y, z in thousandths of the canonical mesh's
   * unit (centimetres).
   */
  readonly neutral_shape: readonly number[];
  /** Sentences for the client, such as that only the most present of several persons is swapped. */
  readonly notes: readonly string[];
};

/** Mode `face`: all frames in one pass. */
export type SwapWholeInput = {
  readonly videoPath: string;
  readonly imagePath: string;
  readonly plan: SwapPlan;
};

/** Mode `fullbody`: one segment of the plan, at the higher quality. */
export type SwapSegmentInput = SwapWholeInput & {
  /** A number from `plan.segments`. */
  readonly segment: number;
};

/** A segment's frames, in the task's folder: an intermediate of high quality without sound, only for `stitch`. */
export type SwappedSegment = {
  readonly segment: number;
  /** `video/x-matroska`. */
  readonly path: string;
  readonly bytes: number;
  readonly report: SegmentReport;
};

export type StitchInput = {
  readonly videoPath: string;
  readonly plan: SwapPlan;
  /** All segments of the plan, in any order, with the reports that came with them. */
  readonly segments: readonly {
    readonly segment: number;
    readonly path: string;
    readonly report: SegmentReport;
  }[];
};

/** Milliseconds of work, by stage; stages overlap, so their sum is more than the clock's. */
export type StageTimes = {
  readonly decode_ms: number;
  readonly detect_ms: number;
  readonly mesh_ms: number;
  readonly warp_ms: number;
  readonly blend_ms: number;
  readonly encode_ms: number;
  readonly wall_ms: number;
};

/** What became of one segment. Plain JSON. */
export type SegmentReport = {
  readonly index: number;
  readonly first_frame: number;
  readonly end_frame: number;
  readonly frames_swapped: number;
  /** Frames of the segment in which the face was not found well enough: they stay as they were. */
  readonly frames_missed: number;
  readonly times: StageTimes;
};

/** The whole job's report: kept as JSON beside the result. */
export type SwapReport = {
  readonly version: 1;
  readonly engine: SwapEngineName;
  readonly mode: 'face' | 'fullbody';
  readonly frame_count: number;
  readonly frames_swapped: number;
  readonly frames_missed: number;
  readonly segments: readonly SegmentReport[];
  /** Of `swapWhole` or `stitch` itself. */
  readonly times: StageTimes;
  /** Sentences for the client: how sound, colour or size had to differ from the source, and the plan's notes. */
  readonly notes: readonly string[];
};

/** The finished video, checked, in the task's folder. */
export type SwappedVideo = {
  /** H.264 (High, 4:2:0, 8 bits) MP4 with the source's audio packets. */
  readonly path: string;
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  /** A PNG grid of frames before (above) and after (below) with their times. */
  readonly contactSheetPath: string;
  readonly report: SwapReport;
};

/** Which call's progress counts how much in the whole job, for the runtime's 0 to 100. */
export const stageShares: Readonly<Record<SwapStage, number>> = {
  examining: 0.02,
  scanning: 0.13,
  swapping: 0.7,
  stitching: 0.13,
  checking: 0.02,
};

/** The engine that the config asks for cannot be used: `message` says what to set. Stops the start. */
export class SwapEngineNotConfigured extends Error {
  override readonly name = 'SwapEngineNotConfigured';
  readonly code = 'MODEL_NOT_CONFIGURED';
}
