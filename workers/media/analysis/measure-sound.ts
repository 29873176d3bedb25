import type { Readable } from 'node:stream';
import { ffmpegArguments } from '#infra/media/ffmpeg-command.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import type { MediaType } from '#infra/media/sniff.ts';
import type { ModelStore } from '../../models/model-store.ts';
import { openRecogniser } from '../speech/open-recogniser.ts';
import { sentenceStarts } from '../speech/sentences.ts';
import { samplesPerSecond, soundWindows, windowMs } from '../speech/sound-windows.ts';
import { type HeardSound, SpeechListener } from '../speech/speech-listener.ts';
import type { SpeechSettings } from '../speech/speech-settings.ts';
import type { SoundAnalysis } from './analysis-schema.ts';

export type SoundOrder = {
  readonly path: string;
  readonly type: MediaType;
  /** Which of the file's streams is listened to. */
  readonly streamIndex: number;
  /** What comes later is not listened to: sound that outlasts the longest source is no programme. */
  readonly mostMs: number;
  readonly wallMs: number;
  readonly speech: SpeechSettings;
};

export type SoundContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  readonly models: ModelStore;
  /** How much has been listened to. */
  readonly onMs: (ms: number) => void;
};

/**
 * Listens to a source's sound once: speech, words, sentences, loudness. The sound streams through; only what
 * was heard in it grows with its length. Throws `MediaFailure` and `ModelUnusable`.
 */
export async function measureSound(order: SoundOrder, context: SoundContext): Promise<SoundAnalysis> {
  const recogniser = await openRecogniser(order.speech, context.models);
  const listener = await SpeechListener.open(context.models, recogniser);
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: order.wallMs,
    args: soundCommand(order),
    outputs: [
      async (output: Readable) => {
        let windows = 0;
        for await (const window of soundWindows(output)) {
          await listener.push(window);
          windows += 1;
          if (windows % 32 === 0) context.onMs(windows * windowMs);
        }
      },
    ],
  });
  return stored(await listener.finish());
}

function soundCommand(order: SoundOrder): readonly string[] {
  return ffmpegArguments((command) => {
    command
      .input(inputUrl(order.path))
      .inputOptions(...guardedInputOptions(order.type), '-threads', '1')
      .output('pipe:1')
      .outputOptions('-map', `0:${order.streamIndex}`, '-vn', '-sn', '-t', (order.mostMs / 1000).toFixed(3))
      // A sound that starts late must not move forward: speech times are times of the source.
      .audioFilters('aresample=async=1:first_pts=0')
      .outputOptions('-ac', '1', '-ar', String(samplesPerSecond), '-f', 's16le', '-c:a', 'pcm_s16le');
  });
}

function stored(heard: HeardSound): SoundAnalysis {
  return {
    language: heard.language,
    utterances: heard.utterances.map(({ startMs, endMs }) => ({ start_ms: startMs, end_ms: endMs })),
    words: heard.words.map(({ text, startMs, endMs, confidence }) => ({
      text,
      start_ms: Math.round(startMs),
      end_ms: Math.round(endMs),
      confidence: Math.round(confidence * 1000) / 1000,
    })),
    sentence_starts: [...sentenceStarts(heard.words)],
    loudness: heard.loudness.map((lufs) => Math.round(lufs * 10)),
  };
}
