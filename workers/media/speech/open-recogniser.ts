import type { ModelStore } from '../../models/model-store.ts';
import { MoonshineRecogniser } from './moonshine-recogniser.ts';
import type { Recogniser } from './recogniser.ts';
import type { SpeechSettings } from './speech-settings.ts';
import { findWhisperFiles } from './whisper/whisper-files.ts';

/** Loads the configured speech model, for one source. Throws `ModelUnusable`. */
export async function openRecogniser(settings: SpeechSettings, models: ModelStore): Promise<Recogniser> {
  if (settings.whisperFolder === null) return MoonshineRecogniser.open(models);
  const files = await findWhisperFiles(settings.whisperFolder, models);
  // Only here: whoever listens with the bundled model need not load the library.
  const { WhisperRecogniser } = await import('./whisper/whisper-recogniser.ts');
  return WhisperRecogniser.open(files, settings.language);
}
