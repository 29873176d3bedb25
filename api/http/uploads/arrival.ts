import type { IncomingMessage } from 'node:http';
import { answers } from '../answers.ts';
import { RefusedBody } from '../refused-body.ts';
import type { DelimiterCounter } from './delimiter-counter.ts';
import { freeReceived } from './free-received.ts';

export type ArrivalLimits = Readonly<{
  maxBytes: number;
  /** The longest that we wait for some bytes. */
  idleMs: number;
  totalMs: number;
}>;

/** So much has to come within each idle time: less is a client that only keeps the connection open. */
const LEAST_BYTES = 128 * 1024;
const TICKS_PER_IDLE_TIME = 30;

/**
 * Watches a body arrive beside whoever reads it. `signal` aborts with an `RefusedBody` when it is too large,
 * comes too slowly or not at all any more, and when the process stops.
 */
export class Arrival {
  readonly delimiters: DelimiterCounter;
  readonly #raw: IncomingMessage;
  readonly #limits: ArrivalLimits;
  readonly #ended = new AbortController();
  readonly #stopped: AbortSignal;
  readonly #clock: NodeJS.Timeout;
  readonly #total: NodeJS.Timeout;
  #bytes = 0;
  #bytesInTime = 0;
  #ticks = 0;

  constructor(
    raw: IncomingMessage,
    delimiters: DelimiterCounter,
    limits: ArrivalLimits,
    stopped: AbortSignal,
  ) {
    this.#raw = raw;
    this.delimiters = delimiters;
    this.#limits = limits;
    this.#stopped = stopped;
    this.#clock = setInterval(() => this.#tick(), limits.idleMs / TICKS_PER_IDLE_TIME);
    this.#total = setTimeout(() => this.#fail(answers.uploadTooSlow), limits.totalMs);
    raw.on('data', this.#count);
    raw.on('close', this.#close);
    stopped.addEventListener('abort', this.#stop);
    if (stopped.aborted) this.#stop();
    // The client may have gone while it was looked up; nothing tells of that any more.
    if (raw.destroyed) this.#close();
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** Rejects when `signal` aborts, and else stays open. */
  failure(): Promise<never> {
    const failure = new Promise<never>((_resolve, reject) => {
      this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
      if (this.signal.aborted) reject(this.signal.reason);
    });
    failure.catch(() => undefined);
    return failure;
  }

  /** Watches no longer. */
  end(): void {
    clearInterval(this.#clock);
    clearTimeout(this.#total);
    this.#raw.off('data', this.#count);
    this.#raw.off('close', this.#close);
    this.#stopped.removeEventListener('abort', this.#stop);
  }

  #count = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#bytesInTime += chunk.length;
    freeReceived(chunk.length);
    this.delimiters.push(chunk);
    const { maxBytes } = this.#limits;
    if (this.#bytes > maxBytes) this.#fail(answers.bodyTooLarge(maxBytes));
  };

  #close = (): void => {
    if (!this.#raw.readableEnded) this.#fail(answers.brokenRequest('The body ended before it was whole.'));
  };

  #stop = (): void => this.#fail(answers.stopping);

  /** Time counts against the client only while it could send: storage has limits of its own. */
  #tick(): void {
    if (this.#raw.readableEnded || this.#raw.isPaused()) return;
    if (this.#bytesInTime >= LEAST_BYTES) {
      this.#bytesInTime = 0;
      this.#ticks = 0;
    }
    this.#ticks += 1;
    if (this.#ticks > TICKS_PER_IDLE_TIME) this.#fail(answers.uploadTooSlow);
  }

  #fail(answer: RefusedBody['answer']): void {
    if (!this.signal.aborted) this.#ended.abort(new RefusedBody(answer));
  }
}
