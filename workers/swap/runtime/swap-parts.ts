import type { ProbeContext } from '#infra/media/probe.ts';
import type { FetchInput } from '../../clip/contract.ts';
import type { JobParts } from '../../runtime/job-parts.ts';
import type {
  ExaminedFace,
  StitchInput,
  SwapContext,
  SwapPlan,
  SwappedSegment,
  SwappedVideo,
  SwapSegmentInput,
  SwapSettings,
  SwapWholeInput,
} from '../contract.ts';
import type { JobTurns } from './job-turns.ts';
import type { SwapOutcomes } from './swap-outcome.ts';

/** An image that lies in the task's folder, told to be one by its content. */
export type FetchedImage = Readonly<{ path: string; contentType: string }>;

/** The media work of face swaps, as the runtime calls it. */
export type SwapPipeline = Readonly<{
  /** Fetches a face image by its URL. Throws `MediaFailure`. */
  fetchFaceImage: (
    input: FetchInput,
    context: Pick<SwapContext, 'taskFolder' | 'signal'>,
  ) => Promise<FetchedImage>;
  /** How long the video's picture plays, in milliseconds: what is billed. */
  videoDuration: (path: string, context: ProbeContext) => Promise<number>;
  examineFaceImage: (path: string, context: SwapContext) => Promise<ExaminedFace>;
  scanFaces: (videoPath: string, context: SwapContext) => Promise<SwapPlan>;
  swapWhole: (input: SwapWholeInput, context: SwapContext) => Promise<SwappedVideo>;
  swapSegment: (input: SwapSegmentInput, context: SwapContext) => Promise<SwappedSegment>;
  stitch: (input: StitchInput, context: SwapContext) => Promise<SwappedVideo>;
}>;

/** What a worker needs to make face swaps. */
export type SwapMaking = Readonly<{
  pipeline: SwapPipeline;
  settings: SwapSettings;
  limits: Readonly<{ maxBytes: number; maxDurationMs: number }>;
}>;

/** What the tasks of face swaps share. */
export type SwapParts = JobParts &
  Readonly<{ swaps: SwapMaking & Readonly<{ outcomes: SwapOutcomes; stitching: JobTurns }> }>;
