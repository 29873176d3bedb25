import { type ModelStore, ModelUnusable } from '../../models/model-store.ts';
import { moonshineLanguage } from './moonshine-recogniser.ts';
import { assertWhisperLanguage, findWhisperFiles } from './whisper/whisper-files.ts';

/** Which speech model listens, and for what; all of it may be written as JSON for a child process. */
export type SpeechSettings = {
  /** The folder in `MODELS_DIR` that holds a Whisper model; null for the bundled Moonshine. */
  readonly whisperFolder: string | null;
  /** ISO 639-1, such as `de`; null where the model is to find out. */
  readonly language: string | null;
};

/** What comes with the service, and hears English. */
export const bundledSpeech: SpeechSettings = { whisperFolder: null, language: null };

const whisperPrefix = 'whisper:';

/** The settings `SPEECH_MODEL` and `SPEECH_LANGUAGE`, checked in form by the configuration. Pure. */
export function speechSettings(config: {
  readonly SPEECH_MODEL: string;
  readonly SPEECH_LANGUAGE?: string | undefined;
}): SpeechSettings {
  const { SPEECH_MODEL: model, SPEECH_LANGUAGE: language } = config;
  return {
    whisperFolder: model.startsWith(whisperPrefix) ? model.slice(whisperPrefix.length) : null,
    language: language ?? null,
  };
}

/**
 * Says at start whether the configured speech model can be used: every file of it is there, listed in the manifest
 * and unaltered, and it can tell the times of words. Throws `ModelUnusable` with what to do.
 */
export async function assertSpeechModel(settings: SpeechSettings, models: ModelStore): Promise<void> {
  const { whisperFolder, language } = settings;
  if (whisperFolder !== null) {
    await findWhisperFiles(whisperFolder, models);
    if (language !== null) await assertWhisperLanguage(whisperFolder, language, models);
  } else if (language !== null && language !== moonshineLanguage) {
    throw new ModelUnusable(
      `SPEECH_LANGUAGE is ${language}, but the speech model moonshine-tiny-en hears English only: leave SPEECH_LANGUAGE out, or set SPEECH_MODEL to a Whisper model of your own (whisper:FOLDER in MODELS_DIR).`,
    );
  }
}
