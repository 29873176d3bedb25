import { type ModelStore, ModelUnusable } from '../../../models/model-store.ts';

/** How the weights of a part of the model are stored: 32-bit floats, or 8-bit integers. */
export type WhisperPrecision = 'fp32' | 'q8';

/** A Whisper model whose files are there and unaltered. */
export type WhisperFiles = {
  /** Where it lies: `folder` is in it. */
  readonly modelsFolder: string;
  readonly folder: string;
  readonly encoder: WhisperPrecision;
  readonly decoder: WhisperPrecision;
};

/** What the library reads beside the two parts of the model itself. */
const settingsFiles = [
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
];
/** The library's own endings for file names; the better one first. */
const endings = { fp32: '', q8: '_quantized' } as const;

const howToExport =
  'export the model with its cross-attentions (such exports are named "_timestamped"), or take one that was';

/**
 * Finds an operator's Whisper model in the manifest, reads all of its files and compares them with it. Takes a second
 * for each 500 MB. Throws `ModelUnusable` for what is missing, altered, or unable to tell the times of words.
 */
export async function findWhisperFiles(folder: string, models: ModelStore): Promise<WhisperFiles> {
  const encoder = precisionOf('encoder_model', folder, models);
  const decoder = precisionOf('decoder_model_merged', folder, models);
  const missing = settingsFiles.map((file) => `${folder}/${file}`).filter((file) => !models.has(file));
  if (missing.length > 0) throw unlisted(missing.join(', '), folder);
  for (const file of settingsFiles) await models.read(`${folder}/${file}`);
  await models.read(onnxFile('encoder_model', encoder, folder));
  // The names of its outputs stand in the file as they are: no need to load it for that.
  const decoderFile = onnxFile('decoder_model_merged', decoder, folder);
  if (!(await models.read(decoderFile)).includes('cross_attentions.0')) {
    throw new ModelUnusable(
      `${models.pathOf(decoderFile)} does not tell where it listens, so words would have no times: ${howToExport}.`,
    );
  }
  await assertAlignmentHeads(`${folder}/generation_config.json`, models);
  const modelsFolder = models.pathOf(decoderFile).slice(0, -decoderFile.length - 1);
  return { modelsFolder, folder, encoder, decoder };
}

function precisionOf(part: string, folder: string, models: ModelStore): WhisperPrecision {
  for (const precision of ['fp32', 'q8'] as const) {
    if (models.has(onnxFile(part, precision, folder))) return precision;
  }
  throw unlisted(`${onnxFile(part, 'fp32', folder)} (or ${part}${endings.q8}.onnx)`, folder);
}

function onnxFile(part: string, precision: WhisperPrecision, folder: string): string {
  return `${folder}/onnx/${part}${endings[precision]}.onnx`;
}

/** Refuses a language that the model does not know. Throws `ModelUnusable`. */
export async function assertWhisperLanguage(
  folder: string,
  language: string,
  models: ModelStore,
): Promise<void> {
  const { is_multilingual: isMultilingual, lang_to_id: known = {} } = await generationSettings(
    `${folder}/generation_config.json`,
    models,
  );
  if (isMultilingual === true ? known[`<|${language}|>`] !== undefined : language === 'en') return;
  const languages = Object.keys(known).map((mark) => mark.replace(/[<|>]/g, ''));
  throw new ModelUnusable(
    `SPEECH_LANGUAGE is ${language}, but the model in ${folder} hears ${isMultilingual === true ? languages.join(', ') : 'English only'}: set one of these, or leave SPEECH_LANGUAGE out.`,
  );
}

type GenerationSettings = {
  readonly alignment_heads?: unknown;
  readonly is_multilingual?: boolean;
  readonly lang_to_id?: Readonly<Record<string, number>>;
};

async function generationSettings(file: string, models: ModelStore): Promise<GenerationSettings> {
  try {
    return JSON.parse(String(await models.read(file))) as GenerationSettings;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ModelUnusable(`${models.pathOf(file)} is no JSON: ${cause.message}`, { cause });
  }
}

async function assertAlignmentHeads(file: string, models: ModelStore): Promise<void> {
  const settings = await generationSettings(file, models);
  if (Array.isArray(settings.alignment_heads) && settings.alignment_heads.length > 0) return;
  throw new ModelUnusable(
    `${models.pathOf(file)} has no alignment_heads, so words would have no times: ${howToExport}.`,
  );
}

function unlisted(files: string, folder: string): ModelUnusable {
  return new ModelUnusable(
    `SPEECH_MODEL is whisper:${folder}, but no MANIFEST.json in MODELS_DIR lists ${files}: put the model's files there and list each with file, sha256, source and licence.`,
  );
}
