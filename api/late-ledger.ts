import { type LedgerClient, LedgerUnavailable } from './ledger/ledger-client.ts';

/**
 * The ledger as HTTP sees it from the first moment on: until a client is connected, every command is answered
 * as in an outage, so that an API that starts before Kafka heals like one that lost it.
 */
export class LateLedger {
  #client: LedgerClient | undefined;

  connected(client: LedgerClient): void {
    this.#client = client;
  }

  ready(): boolean {
    return this.#client?.ready() ?? false;
  }

  submit(...command: Parameters<LedgerClient['submit']>): ReturnType<LedgerClient['submit']> {
    if (this.#client === undefined)
      return Promise.reject(new LedgerUnavailable('The API is still connecting to Kafka'));
    return this.#client.submit(...command);
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }
}
