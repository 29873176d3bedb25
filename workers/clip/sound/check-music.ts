import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { probe } from '#infra/media/probe.ts';
import { guardedInputOptions, inputUrl, progressReader, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { type MediaType, sniffFile } from '#infra/media/sniff.ts';

export type MusicContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
};

/** Music that can be played, as an ffmpeg call reads it. */
export type CheckedMusic = { readonly path: string; readonly type: MediaType };

const musicTypes: readonly string[] = ['audio/mpeg', 'audio/wav', 'audio/aac', 'audio/mp4'];
/** A clip is at most this long: of more music nothing is heard. */
const longestSeconds = 180;
const shortestMs = 500;
const wallMs = 120_000;

/**
 * Makes sure, by playing it through, that a file is music of a kind that the interface takes; the file is only
 * read. Throws `MediaFailure` (`MUSIC_UNUSABLE`) with what is wrong with it.
 */
export async function checkMusic(path: string, context: MusicContext): Promise<CheckedMusic> {
  const type = await sniffFile(path);
  if (!musicTypes.includes(type.contentType)) throw unusable(sentences[type.kind]);
  const { audio } = await probe(path, context).catch(aboutMusic);
  if (audio === null) throw unusable('The music file has no sound in it.');
  const playedMs = await playThrough(path, type, context);
  if (playedMs < shortestMs) throw unusable('The music file is damaged: no sound can be decoded from it.');
  return { path, type };
}

const sentences: Readonly<Record<MediaType['kind'], string>> = {
  page: 'The music is a web page: give a direct link to an MP3, WAV or AAC file.',
  playlist: 'The music is a playlist: give a direct link to an MP3, WAV or AAC file.',
  image: 'The music is an image: MP3, WAV and AAC files are supported.',
  video:
    'The music is a video file, or in a container of videos: give an MP3, WAV or AAC file (.mp3, .wav, .aac or .m4a).',
  audio: 'The music is of a kind that is not supported: MP3, WAV and AAC files are.',
  unknown: 'The music is not an audio file: MP3, WAV and AAC files are supported.',
};

/** How much of it can be decoded, up to the longest clip, in milliseconds. */
async function playThrough(path: string, type: MediaType, context: MusicContext): Promise<number> {
  let playedMs = 0;
  const onStdout = progressReader((outMs) => {
    playedMs = outMs;
  });
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs,
    args: [
      ...['-v', 'error', ...guardedInputOptions(type), '-t', String(longestSeconds), '-i', inputUrl(path)],
      ...['-map', '0:a:0', '-vn', '-f', 'null', '-progress', 'pipe:1', '-'],
    ],
    onStdout,
  }).catch(aboutMusic);
  return playedMs;
}

/** The same failure, but of the music: the client must not look for a fault in the video. */
function aboutMusic(error: unknown): never {
  if (error instanceof MediaFailure && (error.code === 'UNREADABLE' || error.code === 'NOT_A_VIDEO')) {
    const detail = error.detail === undefined ? {} : { detail: error.detail };
    throw new MediaFailure('MUSIC_UNUSABLE', 'The music file is damaged or cannot be decoded.', {
      cause: error,
      ...detail,
    });
  }
  throw error;
}

function unusable(sentence: string): MediaFailure {
  return new MediaFailure('MUSIC_UNUSABLE', sentence);
}
