import { MediaFailure } from '#infra/media/media-failure.ts';
import type { ProbedMedia, ProbedVideo } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl } from '#infra/media/run-ffmpeg.ts';

/** The picture that is swapped in: upright, square pixels, even sides, 8 bits, 4:2:0, limited range. */
export type FrameFormat = {
  readonly width: number;
  readonly height: number;
  /** Which coefficients make colours of its brightness and colour differences. */
  readonly matrix: 'bt709' | 'bt601';
};

/** H.264 in 4:2:0 has even sides only: an odd picture loses its last line or column. */
export function frameFormat(video: ProbedVideo): FrameFormat {
  const even = (pixels: number): number => Math.max(2, Math.floor(pixels / 2) * 2);
  const width = even(video.displayWidth);
  const height = even(video.displayHeight);
  return { width, height, matrix: matrixOf(video) };
}

function matrixOf({ hdr, colorMatrix, displayHeight }: ProbedVideo): FrameFormat['matrix'] {
  if (hdr !== null || colorMatrix === 'bt709') return 'bt709';
  if (colorMatrix === 'smpte170m' || colorMatrix === 'bt470bg') return 'bt601';
  // Where a file says nothing, players go by its size.
  return displayHeight >= 720 ? 'bt709' : 'bt601';
}

export function frameBytes({ width, height }: Pick<FrameFormat, 'width' | 'height'>): number {
  return (width * height * 3) / 2;
}

/** A stretch of decoded frames; `end_frame` is not part of it. */
export type FrameRange = { readonly first_frame: number; readonly end_frame: number };

/**
 * The filters that bring a video into its frame format. HDR is tone-mapped to SDR (Hable): the source's face
 * comes from an SDR photograph, and the result plays everywhere. Pure.
 */
export function formatFilters(video: ProbedVideo): readonly string[] {
  const { width, height } = frameFormat(video);
  const isSquare = width === even(video.displayWidth) && isUnscaled(video);
  const sized = isSquare ? `crop=${width}:${height}:0:0` : `scale=${width}:${height}:flags=bicubic`;
  const filters = [...(video.interlaced ? ['yadif=deint=interlaced'] : []), sized, 'setsar=1'];
  return video.hdr === null
    ? [...filters, 'scale=out_range=tv', 'format=yuv420p']
    : [...filters, ...toneMapping(video.hdr)];
}

function even(pixels: number): number {
  return Math.max(2, Math.floor(pixels / 2) * 2);
}

function isUnscaled({ rotation, width, height, displayWidth, displayHeight }: ProbedVideo): boolean {
  const turned = rotation === 90 || rotation === 270;
  return displayWidth === (turned ? height : width) && displayHeight === (turned ? width : height);
}

function toneMapping(hdr: 'pq' | 'hlg'): readonly string[] {
  const transfer = hdr === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `format=yuv420p10le,setparams=range=tv:color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`,
    'zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p',
  ];
}

/** A picture larger than this would need gigabytes for its few frames in memory. */
const mostPixels = 4096 * 2304;

/** The video stream of what was probed. Throws `MediaFailure` for what has none, or one too large to swap in. */
export function swappableVideo(media: ProbedMedia): ProbedVideo {
  const { video } = media;
  if (video === null) throw new MediaFailure('NO_PICTURE', 'The source has no video picture.');
  if (video.displayWidth * video.displayHeight > mostPixels) {
    throw new MediaFailure(
      'PICTURE_TOO_LARGE',
      `The video's picture is too large for a face swap: ${video.displayWidth}x${video.displayHeight} pixels; 4096x2304 is the most.`,
    );
  }
  return video;
}

/** ffmpeg's arguments that write a stretch of frames, raw, to standard output. Pure. */
export function decodeArguments(
  source: { readonly path: string; readonly media: ProbedMedia; readonly video: ProbedVideo },
  range: FrameRange | undefined,
): readonly string[] {
  const { path, media, video } = source;
  const trim =
    range === undefined ? [] : [`trim=start_frame=${range.first_frame}:end_frame=${range.end_frame}`];
  return [
    ...['-v', 'error', ...guardedInputOptions(media.type), '-threads', '2', '-i', inputUrl(path)],
    ...['-map', `0:${video.index}`, '-vf', [...trim, ...formatFilters(video)].join(',')],
    ...['-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'yuv420p', 'pipe:1'],
  ];
}
