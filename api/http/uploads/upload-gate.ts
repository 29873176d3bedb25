import { Gauge } from 'prom-client';
import { metrics } from '#infra/metrics.ts';

const underWay = new Gauge({
  name: 'clipledger_uploads_under_way',
  help: 'Forms with files that are being received.',
  registers: [metrics],
});

/** How many forms this process receives at once: each holds a part of 5 MiB, so their number bounds its memory. */
export class UploadGate {
  readonly #limit: number;
  readonly #stop = new AbortController();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Aborts when uploads under way must end, because the process does. */
  get stopped(): AbortSignal {
    return this.#stop.signal;
  }

  /** A place, given back by calling the result; undefined when all are taken. */
  enter(): (() => void) | undefined {
    if (this.#count >= this.#limit) return undefined;
    this.#count += 1;
    underWay.set(this.#count);
    return () => {
      this.#count -= 1;
      underWay.set(this.#count);
    };
  }

  stop(): void {
    this.#stop.abort();
  }
}
