import type { VideoSource } from './analyse-video.ts';
import type { PlannedClip } from './contract.ts';
import type { WrittenOverlays } from './overlays/overlay-inputs.ts';
import type { CheckedMusic } from './sound/check-music.ts';
import type { MixMeasure } from './sound/mix-measure.ts';

/** Every clip's size, in pixels. */
export const clipWidth = 1080;
export const clipHeight = 1920;

/**
 * How a cut's start is reached: by the file's index (fast), or by decoding from the beginning, for files
 * whose index is broken or lies behind a missing end.
 */
export type Seek = 'index' | 'decode';

/** All that decides what is rendered: the same order gives the same ffmpeg call. */
export type RenderOrder = {
  readonly sourcePath: string;
  readonly source: VideoSource;
  readonly clip: Pick<PlannedClip, 'cuts' | 'hook' | 'camera'>;
  /** Already drawn and written, in the folder in which ffmpeg runs. */
  readonly overlays: WrittenOverlays;
  readonly music: CheckedMusic | null;
  readonly seek: Seek;
  /** Of the first pass over the sound. */
  readonly measure: MixMeasure;
  readonly outputPath: string;
};
