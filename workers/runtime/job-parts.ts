import type { Appender } from '#infra/kafka/appender.ts';
import type { Logger } from '#infra/log.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import type {
  ClipPlan,
  FetchContext,
  FetchedSource,
  FetchInput,
  PipelineContext,
  PlanInput,
  RenderedClip,
  RenderInput,
} from '../clip/contract.ts';
import type { CheckedMusic } from '../clip/sound/check-music.ts';
import type { SourceAnalysis } from '../media/analysis/analysis-schema.ts';
import type { SpeechSettings } from '../media/speech/speech-settings.ts';
import type { Cancellations } from './cancellations.ts';
import type { ClipOutcomes } from './clip-outcome.ts';
import type { ProgressPublisher } from './progress-publisher.ts';
import type { SourceCache } from './source-cache.ts';
import type { WorkFolders } from './work-folders.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** The media work, as the runtime calls it. */
export type ClipPipeline = Readonly<{
  fetchSource: (input: FetchInput, context: FetchContext) => Promise<FetchedSource>;
  /** Music by its URL: what it gives can be played. */
  fetchMusic: (input: FetchInput, context: PipelineContext) => Promise<CheckedMusic>;
  /** Throws `MediaFailure` for a file that cannot be played as music. */
  checkMusic: (path: string, context: PipelineContext) => Promise<CheckedMusic>;
  analyseVideo: (path: string, context: PipelineContext) => Promise<SourceAnalysis>;
  planClips: (input: PlanInput, context: PipelineContext) => Promise<ClipPlan>;
  renderClip: (input: RenderInput, context: PipelineContext) => Promise<RenderedClip>;
}>;

export type SourceLimits = Readonly<{
  maxBytes: number;
  maxDurationMs: number;
  maxMusicBytes: number;
}>;

/** What the tasks of a worker share. */
export type JobParts = Readonly<{
  storage: ObjectStorage;
  outcomes: ClipOutcomes;
  appender: Appender;
  pipeline: ClipPipeline;
  tools: MediaTools;
  folders: WorkFolders;
  sources: SourceCache;
  progress: ProgressPublisher;
  cancellations: Cancellations;
  metrics: WorkerMetrics;
  limits: SourceLimits;
  /** The operator's own models (`MODELS_DIR`). */
  modelsFolder?: string | undefined;
  /** The speech model (`SPEECH_MODEL`), the bundled one unless given. */
  speech?: SpeechSettings | undefined;
  /** The operator's own fonts (`FONTS_DIR`). */
  fontsFolder?: string | undefined;
  now: () => number;
  log: Logger;
}>;
