import { ffmpegArguments } from '#infra/media/ffmpeg-command.ts';
import type { ProbedVideo } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, progressOptions } from '#infra/media/run-ffmpeg.ts';
import type { VideoSource } from './analyse-video.ts';
import type { Cut } from './contract.ts';
import { outputFrameRate } from './frame-rate.ts';
import type { Loudness } from './loudness.ts';

export const clipWidth = 1080;
export const clipHeight = 1920;

/** The camera modes that this pipeline renders. */
export const cameraModes = ['standard', 'center-crop'] as const;
export type CameraMode = (typeof cameraModes)[number];

/**
 * How the cut's start is reached: by the file's index (fast), or by decoding from the beginning, for files
 * whose index is broken or lies behind a missing end.
 */
export type Seek = 'index' | 'decode';

export type RenderOrder = {
  readonly sourcePath: string;
  readonly source: VideoSource;
  readonly cut: Cut;
  readonly cameraMode: CameraMode;
  readonly seek: Seek;
  readonly loudness: Loudness;
  readonly outputPath: string;
};

const targetLoudness = 'I=-14:TP=-1.5:LRA=11';
const audioRate = 48_000;
/** The background is blurred at a quarter of its size: σ 6 there is σ 24 in the picture, at a sixteenth of the work. */
const backgroundWidth = clipWidth / 4;
const backgroundHeight = clipHeight / 4;
const backgroundSigma = 6;
const backgroundBrightness = 0.6;
/** Too short to hear as a fade, long enough not to click. */
const fadeSeconds = 0.03;

/** The one ffmpeg call that renders a clip. Pure: the same order gives the same arguments. */
export function renderArguments(order: RenderOrder): readonly string[] {
  const rate = outputFrameRate(order.source.video.framesPerSecond);
  return ffmpegArguments((command) => {
    command
      .input(inputUrl(order.sourcePath))
      .inputOptions(...cutOptions(order))
      .complexFilter(`${pictureGraph(order, rate)};${soundGraph(order)}`)
      .outputOptions('-map', '[picture]', '-map', '[sound]', '-t', durationSeconds(order.cut))
      .outputOptions('-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn')
      .outputOptions(...videoEncoding(rate), ...audioEncoding, '-movflags', '+faststart')
      .outputOptions('-f', 'mp4', ...progressOptions)
      .output(order.outputPath);
  });
}

/** The first pass over the sound of the very cut: what `loudnorm` needs to normalise it evenly. Pure. */
export function loudnessArguments(order: Omit<RenderOrder, 'loudness' | 'outputPath'>): readonly string[] {
  return ffmpegArguments((command) => {
    command
      .input(inputUrl(order.sourcePath))
      .inputOptions(...cutOptions(order))
      .complexFilter(`${sourceSound(order)},loudnorm=${targetLoudness}:print_format=json[sound]`)
      .outputOptions('-map', '[sound]', '-vn', '-f', 'null')
      .output('-');
  });
}

/** Where reading starts and ends. After a seek ffmpeg drops frames up to the exact time. */
function cutOptions(order: CutOrder): string[] {
  const guards = [...guardedInputOptions(order.source.type), '-threads', '2'];
  if (order.cut.start_ms === 0) return [...guards, '-t', durationSeconds(order.cut)];
  if (order.seek === 'decode') return [...guards, '-t', seconds(order.cut.end_ms)];
  return [...guards, '-ss', seconds(order.cut.start_ms), '-t', durationSeconds(order.cut)];
}

type CutOrder = Pick<RenderOrder, 'source' | 'cut' | 'seek'>;

/** What a graph begins with when everything before the cut is decoded and thrown away. */
function cutFilters(order: CutOrder, prefix: '' | 'a'): string[] {
  if (order.seek === 'index' || order.cut.start_ms === 0) return [];
  const start = seconds(order.cut.start_ms);
  return [`${prefix}trim=start=${start}`, `${prefix}setpts=PTS-${start}/TB`];
}

function durationSeconds(cut: Cut): string {
  return seconds(cut.end_ms - cut.start_ms);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function pictureGraph(order: RenderOrder, rate: string): string {
  const { video } = order.source;
  const input = `[0:${video.index}]`;
  const steady = [
    ...cutFilters(order, ''),
    ...(video.interlaced ? ['yadif=deint=interlaced'] : []),
    // `start_time=0` repeats the first frame back to the cut's start, so that sound and picture begin together.
    `fps=fps=${rate}:start_time=0`,
  ];
  // A broken tail of the source may lack some frames: half a second is held, more shows in the check.
  const ending = `tpad=stop_mode=clone:stop_duration=0.5,format=yuv420p,setsar=1,${colourTags}[picture]`;
  const { width, height } = fittedSize(video);
  const fills = width === clipWidth && height === clipHeight;
  if (fills || order.cameraMode === 'center-crop') {
    return `${input}${[...steady, centreCrop, standardDynamicRange(video, clipWidth, clipHeight), ending].join(',')}`;
  }
  const darkened = `lutyuv=y=16+(val-16)*${backgroundBrightness}`;
  return [
    `${input}${steady.join(',')},split[behind][before]`,
    `[behind]${centreCrop},${standardDynamicRange(video, backgroundWidth, backgroundHeight)},` +
      `gblur=sigma=${backgroundSigma},${darkened},scale=${clipWidth}:${clipHeight}:flags=bicubic[background]`,
    `[before]${standardDynamicRange(video, width, height)}[foreground]`,
    `[background][foreground]overlay=x=(W-w)/2:y=(H-h)/2:eof_action=repeat,${ending}`,
  ].join(';');
}

/** The largest 9:16 part in the middle, in the pixels of a picture whose own may not be square. */
const centreCrop = `crop=w='max(2,min(iw,ih*${clipWidth}/${clipHeight}/sar))':h='max(2,min(ih,iw*sar*${clipHeight}/${clipWidth}))'`;

const colourTags = 'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709';

/** The picture as large as it goes into the clip, in even pixels; the whole clip where it nearly fills it. Pure. */
export function fittedSize(video: Pick<ProbedVideo, 'displayWidth' | 'displayHeight'>): {
  width: number;
  height: number;
} {
  const scale = Math.min(clipWidth / video.displayWidth, clipHeight / video.displayHeight);
  const width = even(video.displayWidth * scale, clipWidth);
  const height = even(video.displayHeight * scale, clipHeight);
  const nearlyFills = width >= clipWidth * 0.99 && height >= clipHeight * 0.99;
  return nearlyFills ? { width: clipWidth, height: clipHeight } : { width, height };
}

function even(value: number, most: number): number {
  return Math.min(most, Math.max(2, Math.round(value / 2) * 2));
}

/** Scales to exact pixels (which applies the sample aspect) in BT.709, tone-mapping HDR on the way. */
function standardDynamicRange(video: ProbedVideo, width: number, height: number): string {
  if (video.hdr === null) {
    const matrix = video.colorMatrix ?? (video.height >= 720 ? 'bt709' : 'smpte170m');
    const from = ['bt709', 'smpte170m', 'bt470bg', 'smpte240m', 'bt2020nc'].includes(matrix)
      ? matrix
      : 'bt709';
    const name = from === 'bt2020nc' ? 'bt2020' : from;
    return `scale=${width}:${height}:flags=bicubic:in_color_matrix=${name}:out_color_matrix=bt709:out_range=tv,format=yuv420p,setsar=1`;
  }
  const transfer = video.hdr === 'pq' ? 'smpte2084' : 'arib-std-b67';
  return [
    `scale=${width}:${height}:flags=bicubic,setsar=1,format=yuv420p10le`,
    `setparams=range=tv:color_primaries=bt2020:color_trc=${transfer}:colorspace=bt2020nc`,
    'zscale=transfer=linear:npl=100,format=gbrpf32le,zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0,zscale=transfer=bt709:matrix=bt709:range=tv,format=yuv420p',
  ].join(',');
}

function soundGraph(order: RenderOrder): string {
  const duration = durationSeconds(order.cut);
  const fadeOut = (Number(duration) - fadeSeconds).toFixed(3);
  const ending = `apad,atrim=0:${duration},afade=t=in:d=${fadeSeconds},afade=t=out:st=${fadeOut}:d=${fadeSeconds},${aacFrames}[sound]`;
  if (order.source.audio === null) return `anullsrc=r=${audioRate}:cl=stereo,${ending}`;
  return `${sourceSound(order)},${normalising(order.loudness)}${ending}`;
}

/** AAC's own frame: without it, some truncated sources end in a longer one, which the encoder refuses. */
const aacFrames = 'asetnsamples=n=1024:p=0';

/** The cut's sound from its very start (late sound is preceded by silence), in stereo. */
function sourceSound(order: CutOrder): string {
  const resampled = `aresample=${audioRate}:async=1000:first_pts=0`;
  const chain = [...cutFilters(order, 'a'), resampled, 'aformat=sample_fmts=fltp:channel_layouts=stereo'];
  return `[0:${order.source.audio?.index ?? 0}]${chain.join(',')}`;
}

function normalising(measure: Loudness): string {
  if (measure === 'silent') return '';
  // loudnorm works at 192 kHz inside: back to what AAC carries.
  if (measure === 'unusual') return `loudnorm=${targetLoudness},aresample=${audioRate},`;
  const measured = `measured_I=${measure.input_i}:measured_TP=${measure.input_tp}:measured_LRA=${measure.input_lra}`;
  const rest = `measured_thresh=${measure.input_thresh}:offset=${measure.target_offset}:linear=true`;
  return `loudnorm=${targetLoudness}:${measured}:${rest},aresample=${audioRate},`;
}

function videoEncoding(rate: string): string[] {
  const [frames = 30, seconds = 1] = rate.split('/').map(Number);
  const keyframes = String(Math.round((frames / seconds) * 2));
  return [
    ...['-c:v', 'libx264', '-profile:v', 'high', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'],
    ...['-maxrate', '12M', '-bufsize', '24M', '-g', keyframes, '-r', rate, '-fps_mode', 'cfr'],
    ...['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709', '-color_range', 'tv'],
  ];
}

const audioEncoding = ['-c:a', 'aac', '-b:a', '160k', '-ar', String(audioRate), '-ac', '2'] as const;
