import type { ProbedVideo } from '#infra/media/probe.ts';

/** The source's picture as the camera works on it: upright, square pixels, BT.709, 8 bits of 4:2:0. */
export type WorkingPicture = {
  readonly width: number;
  readonly height: number;
  /** The filters that make it of decoded frames. */
  readonly filters: readonly string[];
};

/** Tone mapping in floating point costs 40 times a resize: HDR is brought to the clip's height before. */
const tallestHdr = 1920;

/** How a source becomes the picture that the camera works on. Pure. */
export function workingPicture(video: ProbedVideo): WorkingPicture {
  const share = video.hdr === null ? 1 : Math.min(1, tallestHdr / video.displayHeight);
  const width = even(video.displayWidth * share);
  const height = even(video.displayHeight * share);
  const scale = `scale=${width}:${height}:flags=bicubic`;
  return {
    width,
    height,
    filters: video.hdr === null ? standardRange(video, scale) : toneMapped(video, scale),
  };
}

/** Subsampled chroma asks for even sizes. */
function even(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}

function standardRange(video: ProbedVideo, scale: string): readonly string[] {
  const colours = `in_color_matrix=${matrixOf(video)}:out_color_matrix=bt709:out_range=tv`;
  return [`${scale}:${colours}`, 'format=yuv420p', 'setsar=1'];
}

/** What the colours are to be read by; untagged small pictures are BT.601, large ones BT.709. */
function matrixOf(video: ProbedVideo): string {
  const matrix = video.colorMatrix ?? (video.height >= 720 ? 'bt709' : 'smpte170m');
  if (matrix === 'bt2020nc') return 'bt2020';
  return ['bt709', 'smpte170m', 'bt470bg', 'smpte240m'].includes(matrix) ? matrix : 'bt709';
}

function toneMapped(video: ProbedVideo, scale: string): readonly string[] {
  const transfer = video.hdr === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `${scale},setsar=1,format=yuv420p10le`,
    `setparams=range=tv:color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`,
    'zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p',
  ];
}
