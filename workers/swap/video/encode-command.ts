import { fileURLToPath } from 'node:url';
import type { ProbedMedia } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl } from '#infra/media/run-ffmpeg.ts';
import type { FrameSink } from './timed-frames.ts';
import type { FrameFormat } from './video-frames.ts';

/** Sound that MP4 holds and players know: copied packet by packet. Everything else becomes AAC. */
const copiedAudio: ReadonlySet<string> = new Set(['aac', 'mp3', 'ac3', 'eac3', 'opus', 'flac', 'alac']);

export function isAudioCopied(media: ProbedMedia): boolean {
  return media.audio === null || copiedAudio.has(media.audio.codec);
}

export type EncodeOrder = {
  /** The source: its sound goes into the result. */
  readonly path: string;
  readonly media: ProbedMedia;
  readonly format: FrameFormat;
  readonly sink: FrameSink;
  /** A file in the task's folder with the label's text; undefined for no label. */
  readonly labelFile: string | undefined;
  readonly outputPath: string;
};

/** What the result says of itself, for people and for programs (IPTC's vocabulary). */
const aiMark = 'AI-generated: the face of a person in this video was replaced by a computer.';
const digitalSourceType = 'http://cv.iptc.org/newscodes/digitalsourcetype/compositeSynthetic';

/** ffmpeg's arguments that make the finished MP4 of raw frames on standard input and the source's sound. Pure. */
export function encodeArguments(order: EncodeOrder): readonly string[] {
  const { media, format, sink, outputPath } = order;
  const { video, audio } = media;
  // Reading a file, ffmpeg moves its earliest stream to time 0; the frames come without the way to there.
  const startMs = Math.min(video?.startMs ?? 0, audio?.startMs ?? Infinity);
  const offset = ((video?.startMs ?? 0) - startMs) / 1000;
  return [
    ...['-v', 'error', ...(offset > 0 ? ['-itsoffset', offset.toFixed(6)] : []), ...sink.inputOptions],
    ...['-thread_queue_size', '4', '-i', 'pipe:0'],
    ...(audio === null ? [] : [...guardedInputOptions(media.type), '-i', inputUrl(order.path)]),
    ...['-map', '0:v:0', ...(audio === null ? [] : ['-map', `1:${audio.index}`])],
    ...(isAudioCopied(media) ? ['-c:a', 'copy'] : ['-c:a', 'aac', '-b:a', '192k']),
    ...['-vf', pictureFilters(order).join(','), ...highQuality, ...colourTags(format), ...sink.outputOptions],
    ...['-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
    ...['-metadata', `comment=${aiMark}`, '-metadata', `description=${aiMark}`],
    ...['-metadata', `digital_source_type=${digitalSourceType}`, '-metadata', 'ai_generated=true'],
    ...[
      '-movflags',
      '+faststart+use_metadata_tags',
      '-strict',
      '-2',
      '-f',
      'mp4',
      '-y',
      inputUrl(outputPath),
    ],
  ];
}

const highQuality = [
  '-c:v',
  'libx264',
  '-profile:v',
  'high',
  '-preset',
  'fast',
  '-crf',
  '16',
  '-pix_fmt',
  'yuv420p',
];

/** ffmpeg's arguments for a segment's intermediate: frames only, at any rate, as good as lossless. Pure. */
export function intermediateArguments(order: Pick<EncodeOrder, 'sink' | 'outputPath'>): readonly string[] {
  return [
    ...['-v', 'error', ...order.sink.inputOptions, '-i', 'pipe:0'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '7', '-pix_fmt', 'yuv420p'],
    ...['-f', 'matroska', '-y', inputUrl(order.outputPath)],
  ];
}

const font = fileURLToPath(new URL('../../clip/overlays/fonts/NotoSans-ExtraBold.ttf', import.meta.url));

function pictureFilters({ labelFile, format }: EncodeOrder): string[] {
  const tags = format.matrix === 'bt709' ? 'bt709' : 'smpte170m';
  const colours = `setparams=range=tv:color_primaries=${tags}:color_trc=${tags}:colorspace=${tags}`;
  if (labelFile === undefined) return [colours];
  const size = Math.max(12, Math.round(format.height / 30));
  const place = `x=${size}:y=h-th-${size}:fontsize=${size}:fontcolor=white@0.9:borderw=2:bordercolor=black@0.7`;
  return [`drawtext=fontfile=${escaped(font)}:textfile=${labelFile}:expansion=none:${place}`, colours];
}

/** A path as a value in a filter graph. */
function escaped(path: string): string {
  return path.replaceAll(/[\\':,;[\]]/g, (found) => `\\\\\\${found}`);
}

function colourTags({ matrix }: FrameFormat): string[] {
  const tags = matrix === 'bt709' ? 'bt709' : 'smpte170m';
  return ['-colorspace', tags, '-color_primaries', tags, '-color_trc', tags, '-color_range', 'tv'];
}
