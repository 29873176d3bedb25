import { type Fault, type TransactionRequest, transactionRequests } from './kafka-fault-proxy.ts';

/** Each request of a transaction, struck before the broker has it, and after. */
export const strikesWanted = Object.keys(transactionRequests).length * 2;

/** Strikes requests of transactions at random, each kind of request in both places. */
export class RandomFaults {
  /** Which requests were struck where. */
  readonly struck = new Set<string>();
  count = 0;
  readonly #random: () => number;
  readonly #chance: number;
  readonly #requestTimeoutMs: number;
  #isActive = false;

  /** `chance` is the share of requests that are struck; delays go up to three times the client's time limit. */
  constructor(
    random: () => number,
    { chance, requestTimeoutMs }: { readonly chance: number; readonly requestTimeoutMs: number },
  ) {
    this.#random = random;
    this.#chance = chance;
    this.#requestTimeoutMs = requestTimeoutMs;
  }

  begin(): void {
    this.#isActive = true;
  }

  end(): void {
    this.#isActive = false;
  }

  choose(request: TransactionRequest): Fault | undefined {
    // InitProducerId is rare: once per life of a writer.
    const chance = request === 'InitProducerId' ? 0.3 : this.#chance;
    if (!this.#isActive || this.#random() > chance) return undefined;
    const at = this.#random() < 0.5 ? 'request' : 'answer';
    this.struck.add(`${request} ${at}`);
    this.count += 1;
    const kind = this.#random();
    if (kind < 0.6) return { kind: 'cut', at };
    if (kind < 0.9) return { kind: 'delay', at, ms: Math.floor(this.#random() * 3 * this.#requestTimeoutMs) };
    return { kind: 'drop', at };
  }
}
