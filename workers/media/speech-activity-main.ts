import { createReadStream } from 'node:fs';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { ModelStore } from '../models/model-store.ts';
import { samplesPerWindow } from './speech-activity.ts';

/**
 * The child process of `measureSpeech`: reads 16 kHz mono PCM (s16le) from the file it is given and writes,
 * for each window, two little-endian floats to stdout: the probability of speech and the level in dBFS.
 */

const contextSamples = 64;
const sampleRate = new Tensor('int64', BigInt64Array.of(16_000n), []);
const silenceDb = -100;
const windowsPerWrite = 512;

async function main(pcmPath: string): Promise<void> {
  const session = await InferenceSession.create(await (await ModelStore.open()).read('silero_vad_v5.onnx'), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const input = new Float32Array(contextSamples + samplesPerWindow);
  let state = new Tensor('float32', new Float32Array(2 * 128), [2, 1, 128]);
  let results: number[] = [];
  for await (const window of windows(pcmPath)) {
    input.copyWithin(0, samplesPerWindow);
    input.set(window, contextSamples);
    const answer = await session.run({
      input: new Tensor('float32', input.slice(), [1, input.length]),
      state,
      sr: sampleRate,
    });
    state = answer['stateN'] as Tensor as typeof state;
    results.push(Number(answer['output']?.data[0] ?? 0), levelDb(window));
    if (results.length < 2 * windowsPerWrite) continue;
    await write(results);
    results = [];
  }
  await write(results);
}

/** The file's samples in windows of 32 ms as floats; a last incomplete window is left out. */
async function* windows(pcmPath: string): AsyncGenerator<Float32Array> {
  const windowBytes = samplesPerWindow * 2;
  let rest = Buffer.alloc(0);
  for await (const piece of createReadStream(pcmPath) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, piece]);
    let offset = 0;
    for (; offset + windowBytes <= bytes.length; offset += windowBytes) {
      const window = new Float32Array(samplesPerWindow);
      for (let sample = 0; sample < samplesPerWindow; sample += 1) {
        window[sample] = bytes.readInt16LE(offset + sample * 2) / 32_768;
      }
      yield window;
    }
    rest = bytes.subarray(offset);
  }
}

function levelDb(window: Float32Array): number {
  const power = window.reduce((sum, sample) => sum + sample * sample, 0) / window.length;
  return power === 0 ? silenceDb : Math.max(silenceDb, 10 * Math.log10(power));
}

function write(results: readonly number[]): Promise<void> {
  const bytes = Buffer.from(Float32Array.from(results).buffer);
  return new Promise((written, failed) => {
    process.stdout.write(bytes, (error) => (error ? failed(error) : written()));
  });
}

const [pcmPath] = process.argv.slice(2);
if (pcmPath === undefined) throw new Error('usage: speech-activity-main.ts FILE.pcm');
await main(pcmPath);
