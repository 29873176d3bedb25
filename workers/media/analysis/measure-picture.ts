import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import type { ProbedVideo } from '#infra/media/probe.ts';
import { runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import type { MediaType } from '#infra/media/sniff.ts';
import type { ModelStore } from '../../models/model-store.ts';
import { FaceFinder } from '../faces/face-finder.ts';
import { trackFaces } from '../faces/face-tracker.ts';
import { InsetFinder } from '../insets/inset-finder.ts';
import { type DarkMargins, darkMargins } from '../shots/dark-margins.ts';
import { ShotDetector, thumbnailBytes } from '../shots/shot-detector.ts';
import type { FaceTrack, PictureAnalysis } from './analysis-schema.ts';
import { blackEndsFile, blackStartsFile, notedTimes, pictureCommand } from './picture-command.ts';
import type { PictureSampling } from './picture-sampling.ts';
import { barAreas, insetSpans } from './placed-spans.ts';
import { rawFrames } from './raw-frames.ts';
import { type SampledFace, sampledFace, trackColumns } from './track-columns.ts';

export type PictureOrder = {
  readonly path: string;
  readonly type: MediaType;
  readonly video: ProbedVideo;
  readonly sampling: PictureSampling;
  /** Longer than this, decoding is stopped and fails. */
  readonly wallMs: number;
};

export type PictureContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  readonly models: ModelStore;
  /** How many frames have been decoded. */
  readonly onFrames: (count: number) => void;
};

/** Most faces of one frame that are kept: more is a crowd, which no camera follows. */
const mostFaces = 8;

/**
 * Decodes a source's picture once, small, and measures shots, motion, black, bars, faces and insets. Nothing but the
 * measures grows with the source's length. Throws `MediaFailure` and `ModelUnusable`.
 */
export async function measurePicture(order: PictureOrder, context: PictureContext): Promise<PictureAnalysis> {
  const { sampling } = order;
  const finder = await FaceFinder.open(context.models);
  const shots = new ShotDetector(sampling.framesPerSecond);
  const insets = new InsetFinder(sampling);
  const samples: { frame: number; faces: readonly SampledFace[] }[] = [];
  const margins: DarkMargins[] = [];
  let frames = 0;
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: order.wallMs,
    args: pictureCommand(order, sampling),
    outputs: [
      async (output: Readable) => {
        for await (const data of rawFrames(output, sampling.width * sampling.height * 3, 'reuse')) {
          const frame = samples.length * sampling.framesPerSample;
          const picture = { data, width: sampling.width, height: sampling.height };
          const found = await finder.find(picture);
          insets.push(
            picture,
            found.map(({ box }) => box),
          );
          margins.push(darkMargins(picture));
          samples.push({ frame, faces: found.slice(0, mostFaces).map((face) => sampledFace(face, frame)) });
        }
      },
      async (output: Readable) => {
        for await (const thumbnail of rawFrames(output, thumbnailBytes, 'fresh')) {
          shots.push(thumbnail);
          frames += 1;
          if (frames % 16 === 0) context.onFrames(frames);
        }
      },
    ],
  });
  const measures = shots.finish();
  if (measures.frameCount === 0) throw undecodable();
  const { cutFrames } = measures;
  const tracks = trackFaces(samples, { cutFrames, framesPerSample: sampling.framesPerSample });
  const durationMs = Math.round((measures.frameCount / sampling.framesPerSecond) * 1000);
  return {
    frames_per_second: sampling.framesPerSecond,
    frame_count: measures.frameCount,
    duration_ms: durationMs,
    frames_per_sample: sampling.framesPerSample,
    cut_frames: [...cutFrames],
    motion: measures.motion.map((each) => Math.round(each * 10) / 10),
    black: await blackSpans(context.taskFolder, durationMs),
    face_tracks: tracks.map((faces): FaceTrack => trackColumns(faces, sampling)),
    bar_areas: [...barAreas(margins, { ...sampling, cutFrames, durationMs })],
    insets: [...insetSpans(insets.finish(), { ...sampling, cutFrames, durationMs })],
  };
}

function undecodable(): MediaFailure {
  return new MediaFailure('UNREADABLE', 'The video is damaged: no picture could be decoded.');
}

async function blackSpans(
  folder: string,
  durationMs: number,
): Promise<{ start_ms: number; end_ms: number }[]> {
  const times = async (file: string): Promise<readonly number[]> =>
    notedTimes(await readFile(join(folder, file), 'utf8').catch(() => ''));
  const [starts, ends] = [await times(blackStartsFile), await times(blackEndsFile)];
  return starts.map((start_ms, index) => ({ start_ms, end_ms: ends[index] ?? durationMs }));
}
