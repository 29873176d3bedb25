import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RenderAnswer, RenderOrder, RenderSetting } from './render-thread-main.ts';

/** Decoding and encoding take cores too: more threads than this only wait. */
const mostThreads = 4;

type Waiting = {
  readonly resolve: (answer: RenderAnswer) => void;
  readonly reject: (error: unknown) => void;
};

/** Draws frames side by side in worker threads, the one with the least to do first. */
export class RenderPool {
  readonly #threads: readonly { readonly worker: Worker; readonly waiting: Map<number, Waiting> }[];
  #nextId = 0;

  constructor(setting: RenderSetting) {
    const count = Math.max(1, Math.min(mostThreads, availableParallelism()));
    this.#threads = Array.from({ length: count }, () => startThread(setting));
  }

  async draw(order: Omit<RenderOrder, 'id'>): Promise<RenderAnswer> {
    const id = this.#nextId;
    this.#nextId += 1;
    const thread = this.#threads.reduce((least, each) =>
      each.waiting.size < least.waiting.size ? each : least,
    );
    return new Promise((resolve, reject) => {
      thread.waiting.set(id, { resolve, reject });
      thread.worker.postMessage({ ...order, id }, [order.data.buffer as ArrayBuffer]);
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }
}

function startThread(setting: RenderSetting): { worker: Worker; waiting: Map<number, Waiting> } {
  const worker = new Worker(new URL('render-thread-main.ts', import.meta.url), { workerData: setting });
  const waiting = new Map<number, Waiting>();
  worker.on('message', (answer: RenderAnswer) => {
    waiting.get(answer.id)?.resolve(answer);
    waiting.delete(answer.id);
  });
  worker.on('error', (error) => {
    for (const each of waiting.values()) each.reject(error);
    waiting.clear();
  });
  return { worker, waiting };
}

/** A copy that threads read without copying it again. */
export function shared(values: Float32Array): Float32Array {
  const copy = new Float32Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}
