import { spawn } from 'node:child_process';
import { appendFile, mkdtemp, rm, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { openRecogniser } from '#workers/media/speech/open-recogniser.ts';
import type { Recogniser } from '#workers/media/speech/recogniser.ts';
import { samplesPerSecond } from '#workers/media/speech/sound-windows.ts';
import {
  assertSpeechModel,
  bundledSpeech,
  type SpeechSettings,
  speechSettings,
} from '#workers/media/speech/speech-settings.ts';
import { ModelStore, ModelUnusable } from '#workers/models/model-store.ts';
import { pieceProbability, writeTinyWhisper } from './tiny-whisper.ts';

const tinyWhisper: SpeechSettings = { whisperFolder: 'tiny', language: null };
let folder: string;
/** The first seconds of the project's own sample, in which somebody speaks English. */
let speech: Float32Array;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'whisper-'));
  await writeTinyWhisper(folder, { attentions: true });
  speech = await spokenSample();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function spokenSample(): Promise<Float32Array> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const sample = join(import.meta.dirname, '../../../../infra/sample/talk.mp4');
  const output = ['-t', '6', '-ac', '1', '-ar', String(samplesPerSecond), '-f', 's16le', 'pipe:1'];
  const pcm = await buffer(
    spawn(ffmpegPath, ['-v', 'error', '-i', sample, '-vn', ...output], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }).stdout,
  );
  const samples = new Float32Array(pcm.length / 2);
  for (let index = 0; index < samples.length; index += 1)
    samples[index] = pcm.readInt16LE(index * 2) / 32_768;
  return samples;
}

describe.each([
  ['Moonshine', bundledSpeech],
  ['Whisper', tinyWhisper],
])('%s as a recogniser', (_, settings) => {
  let recogniser: Recogniser;
  beforeAll(async () => {
    recogniser = await openRecogniser(settings, await ModelStore.open(folder));
  });

  test('gives words in their order, inside the sound, each with a confidence, and their language', async () => {
    const { words, language } = await recogniser.hear(speech);
    expect(language).toMatch(/^[a-z]{2,3}$/);
    expect(words.length).toBeGreaterThan(2);
    for (const [index, word] of words.entries()) {
      expect(word.text).toMatch(/^\S+$/);
      expect(word.startMs).toBeGreaterThanOrEqual(words[index - 1]?.startMs ?? 0);
      expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
      expect(word.endMs).toBeLessThanOrEqual((speech.length / samplesPerSecond) * 1000);
      expect(word.confidence).toBeGreaterThan(0);
      expect(word.confidence).toBeLessThanOrEqual(1);
    }
  });

  test('hears the same in the same sound', async () => {
    expect(await recogniser.hear(speech)).toEqual(await recogniser.hear(speech));
  });

  test('takes a stretch as short as a tenth of a second', async () => {
    const short = speech.subarray(0, samplesPerSecond / 10);
    for (const { endMs } of (await recogniser.hear(short)).words) expect(endMs).toBeLessThanOrEqual(100);
  });
});

describe("an operator's Whisper", () => {
  test('gives what its files say: tokens as words, where each listened, how sure it was, which language', async () => {
    const { words, language } = await (await openRecogniser(tinyWhisper, await ModelStore.open(folder))).hear(
      speech,
    );
    expect(language).toBe('de');
    expect(words.map(({ text }) => text)).toEqual(['Guten', 'Tag,', 'zusammen.']);
    for (const { confidence } of words) expect(confidence).toBeCloseTo(pieceProbability, 2);
    // The quiet before the first word counts as its own, until the word is moved to where it is heard.
    for (const [index, startMs] of [0, 600, 1_000].entries()) {
      expect(Math.abs((words[index]?.startMs ?? -1) - startMs)).toBeLessThanOrEqual(40);
    }
  });

  test('runs on the one copy of the inference library that the service has', () => {
    const own = createRequire(import.meta.url);
    const theirs = createRequire(own.resolve('@huggingface/transformers'));
    expect(theirs.resolve('onnxruntime-node')).toBe(own.resolve('onnxruntime-node'));
  });
});

describe('at start', () => {
  const failure = async (settings = tinyWhisper): Promise<string> => {
    const error: unknown = await ModelStore.open(folder)
      .then((models) => assertSpeechModel(settings, models))
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ModelUnusable);
    return String(error);
  };

  test('settings that can be used pass', async () => {
    const models = await ModelStore.open(folder);
    await assertSpeechModel(speechSettings({ SPEECH_MODEL: 'moonshine-tiny-en' }), models);
    await assertSpeechModel(speechSettings({ SPEECH_MODEL: 'whisper:tiny', SPEECH_LANGUAGE: 'de' }), models);
  });

  test('a language that the bundled model does not hear is refused', async () => {
    expect(await failure({ ...bundledSpeech, language: 'de' })).toContain('hears English only');
  });

  test('a language that the Whisper model does not know is refused with those that it does', async () => {
    expect(await failure({ ...tinyWhisper, language: 'tlh' })).toMatch(
      /SPEECH_LANGUAGE is tlh, but the model in tiny hears en, de/,
    );
  });

  test('a folder that no manifest lists is refused with what to do', async () => {
    expect(await failure({ whisperFolder: 'base', language: null })).toMatch(
      /whisper:base.*MANIFEST\.json.*base\/onnx\/encoder_model\.onnx.*put the model's files there/,
    );
  });

  test('a model that cannot tell the times of words is refused', async () => {
    await writeTinyWhisper(folder, { attentions: false });
    expect(await failure()).toMatch(/decoder_model_merged\.onnx.*words would have no times.*_timestamped/);
  });

  test('an altered file is refused, and a missing one, by their paths', async () => {
    await writeTinyWhisper(folder, { attentions: true });
    const encoder = join(folder, 'tiny/onnx/encoder_model.onnx');
    await appendFile(encoder, 'x');
    expect(await failure()).toContain(`${encoder} was altered`);
    await unlink(encoder);
    expect(await failure()).toContain(`${encoder} cannot be read: put the file from this test there`);
    await writeFile(encoder, '');
    expect(await failure()).toContain('was altered');
  });
});
