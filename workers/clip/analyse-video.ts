import { MediaFailure } from '#infra/media/media-failure.ts';
import { notMedia, type ProbedMedia, probe } from '#infra/media/probe.ts';
import { analyseSource } from '../media/analysis/analyse-source.ts';
import type { SourceAnalysis } from '../media/analysis/analysis-schema.ts';
import type { PipelineContext } from './contract.ts';

/**
 * Looks at a clip job's source once: what it shows and what is said in it, for all the job's clips and their
 * retries. It must be a video within the limits. Throws `MediaFailure`.
 */
export async function analyseVideo(path: string, context: PipelineContext): Promise<SourceAnalysis> {
  context.onProgress({ stage: 'probing', fraction: 0 });
  const media = await probeVideo(path, context);
  return analyseSource(path, media, {
    ...context,
    modelsFolder: context.modelsFolder,
    onFraction: (fraction) => context.onProgress({ stage: 'analysing', fraction }),
  });
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
