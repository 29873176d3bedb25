import { ffmpegArguments } from '#infra/media/ffmpeg-command.ts';
import type { ProbedVideo } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl } from '#infra/media/run-ffmpeg.ts';
import type { MediaType } from '#infra/media/sniff.ts';
import { thumbnailSize } from '../shots/shot-detector.ts';
import type { PictureSampling } from './picture-sampling.ts';

/** Files in the task's folder where ffmpeg notes the black stretches, a line for each. */
export const blackStartsFile = 'black-starts.txt';
export const blackEndsFile = 'black-ends.txt';

/**
 * ffmpeg's arguments to decode a source once: frames for faces on standard output, a thumbnail of every frame
 * on descriptor 3, black stretches in files. Pure.
 */
export function pictureCommand(
  source: { readonly path: string; readonly type: MediaType; readonly video: ProbedVideo },
  sampling: PictureSampling,
): readonly string[] {
  const { framesPerSecond, framesPerSample, width, height } = sampling;
  const raw = ['-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'rgb24'];
  return ffmpegArguments((command) => {
    command
      .input(inputUrl(source.path))
      .inputOptions(...guardedInputOptions(source.type), '-threads', '2', '-skip_loop_filter', 'all')
      .complexFilter([
        // From time zero on at a constant rate, so that a frame's number is its time in the source.
        `[0:${source.video.index}]fps=fps=${framesPerSecond.toFixed(6)}:start_time=0,split=2[every][some]`,
        `[every]scale=320:180:flags=fast_bilinear,format=yuv420p,${blackNotes},` +
          `scale=${thumbnailSize.width}:${thumbnailSize.height}:flags=area[thumbnails]`,
        `[some]select='not(mod(n\\,${framesPerSample}))',scale=${width}:${height}:flags=bilinear[frames]`,
      ])
      .output('pipe:1')
      .outputOptions('-map', '[frames]', ...raw)
      .output('pipe:3')
      .outputOptions('-map', '[thumbnails]', ...raw);
  });
}

const blackNotes = [
  'blackdetect=d=0.3:pic_th=0.98:pix_th=0.08',
  note('lavfi.black_start', blackStartsFile),
  note('lavfi.black_end', blackEndsFile),
].join(',');

function note(key: string, file: string): string {
  return `metadata=mode=print:key=${key}:file=${file}`;
}

/** The times that a note holds, in milliseconds: lines such as `lavfi.black_start=12.48`. Pure. */
export function notedTimes(text: string): readonly number[] {
  return text
    .split('\n')
    .map((line) => /^lavfi\.\w+=(.+)$/.exec(line)?.[1])
    .filter((seconds) => seconds !== undefined)
    .map((seconds) => Math.round(Number(seconds) * 1000))
    .filter((atMs) => Number.isFinite(atMs));
}
