import { z } from 'zod';
import { MediaFailure } from './media-failure.ts';
import type { MediaTools } from './media-tools.ts';
import { guardedInputOptions, type InputProtocols, inputUrl, maxPixels, runFfprobe } from './run-ffmpeg.ts';
import { type MediaType, sniffFile } from './sniff.ts';

export type ProbedVideo = {
  /** Index in the file, for `-map`. */
  readonly index: number;
  readonly codec: string;
  /** As coded, before rotation and sample aspect. */
  readonly width: number;
  readonly height: number;
  /** As shown. */
  readonly displayWidth: number;
  readonly displayHeight: number;
  readonly rotation: 0 | 90 | 180 | 270;
  readonly framesPerSecond: number;
  readonly pixelFormat: string;
  readonly hdr: 'pq' | 'hlg' | null;
  readonly colorMatrix: string | null;
  readonly interlaced: boolean;
  readonly startMs: number;
  /** The video stream's own, to the millisecond; null where the file does not say. */
  readonly durationMs: number | null;
};

export type ProbedAudio = {
  readonly index: number;
  readonly codec: string;
  readonly channels: number;
  readonly sampleRate: number;
  readonly startMs: number;
  readonly durationMs: number | null;
};

/** What a file holds, as its headers say. Headers can lie: only decoding shows what is there. */
export type ProbedMedia = {
  readonly type: MediaType;
  readonly durationMs: number | null;
  readonly video: ProbedVideo | null;
  readonly audio: ProbedAudio | null;
};

export type ProbeContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
};

const probeLimitMs = 30_000;
const outputLimitBytes = 1024 * 1024;
const entries = [
  'format=duration',
  'stream=index,codec_type,codec_name,width,height,sample_aspect_ratio,avg_frame_rate,r_frame_rate,pix_fmt',
  'stream=color_transfer,color_space,field_order,channels,sample_rate,start_time,duration',
  'stream_disposition=attached_pic',
  'stream_tags=DURATION,rotate',
  'stream_side_data=rotation',
].join(':');

/** Where ffprobe reads: a file, or our own server on loopback that stands for a remote one. */
export type MediaInput = {
  readonly url: string;
  readonly protocols: InputProtocols;
  /** Judged by content: only this type's demuxer is used. */
  readonly type: MediaType;
};

/**
 * Reads a file's headers with ffprobe: its type by content, its first real video and audio streams. Throws
 * `MediaFailure` for what is no video or audio file, cannot be read, or is larger than any decoder is given.
 */
export async function probe(path: string, context: ProbeContext): Promise<ProbedMedia> {
  return probeInput(await fileInput(path), context);
}

/** A local file as an input. */
export async function fileInput(path: string): Promise<MediaInput> {
  return { url: inputUrl(path), protocols: 'file', type: await sniffFile(path) };
}

/** Like `probe`, for an input that is already sniffed. */
export async function probeInput(input: MediaInput, context: ProbeContext): Promise<ProbedMedia> {
  if (input.type.demuxer === undefined) throw notMedia(input.type);
  const pieces: Buffer[] = [];
  let bytes = 0;
  await runFfprobe({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: probeLimitMs,
    args: [
      '-v',
      'error',
      '-of',
      'json',
      '-show_entries',
      entries,
      ...guardedInputOptions(input.type, input.protocols),
      '-i',
      input.url,
    ],
    onStdout: (piece) => {
      bytes += piece.length;
      if (bytes <= outputLimitBytes) pieces.push(piece);
    },
  });
  return probedMedia(input.type, parseOutput(Buffer.concat(pieces)));
}

/** The failure of a file that is not what its sender thinks, by what it is instead. */
export function notMedia(type: MediaType): MediaFailure {
  const sentences: Readonly<Record<MediaType['kind'], string>> = {
    page: 'The source is a web page, not a video file: give a direct link to an mp4, mov, avi, mkv or webm file.',
    playlist:
      'The source is a playlist, not a video file: give a direct link to an mp4, mov, avi, mkv or webm file.',
    image: 'The source is an image, not a video.',
    audio: 'The source is an audio file, not a video.',
    video: 'The source is a video of a kind that is not supported.',
    unknown: 'The source is not a video file: mp4, mov, avi, mkv and webm are supported.',
  };
  return new MediaFailure('NOT_A_VIDEO', sentences[type.kind], { detail: type.contentType });
}

const stream = z.object({
  index: z.number(),
  codec_type: z.string().optional(),
  codec_name: z.string().default('unknown'),
  width: z.number().default(0),
  height: z.number().default(0),
  sample_aspect_ratio: z.string().optional(),
  avg_frame_rate: z.string().optional(),
  r_frame_rate: z.string().optional(),
  pix_fmt: z.string().default('unknown'),
  color_transfer: z.string().optional(),
  color_space: z.string().optional(),
  field_order: z.string().optional(),
  channels: z.number().default(0),
  sample_rate: z.string().optional(),
  start_time: z.string().optional(),
  duration: z.string().optional(),
  disposition: z.object({ attached_pic: z.number().default(0) }).optional(),
  tags: z.object({ DURATION: z.string().optional(), rotate: z.string().optional() }).optional(),
  side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
});
const probeOutput = z.object({
  streams: z.array(stream).default([]),
  format: z.object({ duration: z.string().optional() }).default({}),
});
type Stream = z.infer<typeof stream>;

function parseOutput(output: Buffer): z.infer<typeof probeOutput> {
  try {
    return probeOutput.parse(JSON.parse(output.toString('utf8')));
  } catch (error) {
    throw new MediaFailure('UNREADABLE', 'The video is damaged: its headers make no sense.', {
      cause: error,
    });
  }
}

function probedMedia(type: MediaType, output: z.infer<typeof probeOutput>): ProbedMedia {
  const videoStream = output.streams.find(
    (found) => found.codec_type === 'video' && found.disposition?.attached_pic !== 1 && found.width > 0,
  );
  const audioStream = output.streams.find((found) => found.codec_type === 'audio' && found.channels > 0);
  return {
    type,
    durationMs: milliseconds(output.format.duration),
    video: videoStream === undefined ? null : probedVideo(videoStream),
    audio: audioStream === undefined ? null : probedAudio(audioStream),
  };
}

function probedVideo(found: Stream): ProbedVideo {
  const { width, height } = found;
  if (width * height > maxPixels) {
    throw new MediaFailure(
      'PICTURE_TOO_LARGE',
      `The video's picture is too large: ${width}x${height} pixels.`,
    );
  }
  const rotation = rotationOf(found);
  const shownWidth = Math.max(2, Math.round(width * sampleAspect(found)));
  const turned = rotation === 90 || rotation === 270;
  return {
    index: found.index,
    codec: found.codec_name,
    width,
    height,
    displayWidth: turned ? height : shownWidth,
    displayHeight: turned ? shownWidth : height,
    rotation,
    framesPerSecond: frameRate(found),
    pixelFormat: found.pix_fmt,
    hdr: found.color_transfer === 'smpte2084' ? 'pq' : found.color_transfer === 'arib-std-b67' ? 'hlg' : null,
    colorMatrix:
      found.color_space === undefined || found.color_space === 'unknown' ? null : found.color_space,
    interlaced: ['tt', 'bb', 'tb', 'bt'].includes(found.field_order ?? ''),
    startMs: milliseconds(found.start_time) ?? 0,
    durationMs: milliseconds(found.duration) ?? milliseconds(found.tags?.DURATION),
  };
}

function probedAudio(found: Stream): ProbedAudio {
  return {
    index: found.index,
    codec: found.codec_name,
    channels: found.channels,
    sampleRate: Number(found.sample_rate ?? 0),
    startMs: milliseconds(found.start_time) ?? 0,
    durationMs: milliseconds(found.duration) ?? milliseconds(found.tags?.DURATION),
  };
}

/** The display matrix counts anticlockwise; old QuickTime has a clockwise tag. */
function rotationOf(found: Stream): ProbedVideo['rotation'] {
  const matrix = found.side_data_list?.find((data) => data.rotation !== undefined)?.rotation;
  const clockwise = matrix === undefined ? Number(found.tags?.rotate ?? 0) : -matrix;
  const quarter = (((Math.round(clockwise / 90) * 90) % 360) + 360) % 360;
  return quarter === 90 || quarter === 180 || quarter === 270 ? quarter : 0;
}

function sampleAspect(found: Stream): number {
  const aspect = ratio(found.sample_aspect_ratio?.replace(':', '/'));
  // An aspect beyond these is a mistake in the file, and would make a picture of no height.
  return aspect !== null && aspect >= 0.1 && aspect <= 10 ? aspect : 1;
}

function frameRate(found: Stream): number {
  const rates = [ratio(found.avg_frame_rate), ratio(found.r_frame_rate)];
  return rates.find((rate): rate is number => rate !== null && rate >= 0.1 && rate <= 1000) ?? 30;
}

function ratio(text: string | undefined): number | null {
  const parts = /^(\d+)\/(\d+)$/.exec(text ?? '');
  const [numerator, denominator] = [Number(parts?.[1] ?? 0), Number(parts?.[2] ?? 0)];
  return numerator > 0 && denominator > 0 ? numerator / denominator : null;
}

/** `12.34` or Matroska's `00:00:12.340000000` as milliseconds. */
function milliseconds(text: string | undefined): number | null {
  if (text === undefined || !/^-?[\d:.]+$/.test(text)) return null;
  const seconds = text.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return Number.isFinite(seconds) ? Math.round(seconds * 1000) : null;
}
