import { InferenceSession, type Tensor } from 'onnxruntime-node';
import type { ModelStore } from './model-store.ts';

/** ONNX Runtime says what is worth knowing in its errors; its warnings are about how a model was exported. */
const errorsOnly = 3;

/**
 * An ONNX model made ready. One thread each: sound and picture are worked on side by side, and a worker runs
 * several tasks. For inputs whose size varies from run to run, memory goes back after each: kept for the next
 * run, it would only grow. Throws `ModelUnusable` when the file is missing or altered.
 */
export async function openSession(
  models: ModelStore,
  file: string,
  inputs: 'fixed size' | 'varying size',
): Promise<InferenceSession> {
  const keepsMemory = inputs === 'fixed size';
  return InferenceSession.create(await models.read(file), {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    enableCpuMemArena: keepsMemory,
    enableMemPattern: keepsMemory,
    logSeverityLevel: errorsOnly,
  });
}

/** A named float output; a model without it is not the one that the code was written for. */
export function floatsOf(answer: Readonly<Record<string, Tensor>>, name: string): Float32Array {
  const data = answer[name]?.data;
  if (!(data instanceof Float32Array)) throw new Error(`The model has no float output named ${name}.`);
  return data;
}
