import { connect, createServer, type Socket } from 'node:net';
import type { BrokerAddress } from '#infra/kafka/connection.ts';

/** The requests of a transaction, by Kafka's API keys. */
export const transactionRequests = {
  InitProducerId: 22,
  Produce: 0,
  TxnOffsetCommit: 28,
  EndTxn: 26,
} as const;
export type TransactionRequest = keyof typeof transactionRequests;

/** What happens to one request: at `request` before the broker has it, at `answer` after the broker did it. */
export type Fault =
  | Readonly<{ kind: 'cut'; at: 'request' | 'answer' }>
  /** Held back, and then delivered after all: a late request reaches the broker, also on a dead connection. */
  | Readonly<{ kind: 'delay'; at: 'request' | 'answer'; ms: number }>
  /** Never delivered; the client runs into its time limit. */
  | Readonly<{ kind: 'drop'; at: 'request' | 'answer' }>;

export type FaultProxy = Readonly<{
  routeTo: (broker: BrokerAddress) => BrokerAddress;
  close: () => Promise<void>;
}>;

/**
 * Stands between a Kafka client and its broker, understands whose request each frame is, and asks `choose`
 * for each request of a transaction whether something happens to it.
 */
export async function openFaultProxy(
  broker: BrokerAddress,
  choose: (request: TransactionRequest) => Fault | undefined,
): Promise<FaultProxy> {
  const connections = new Set<ProxiedConnection>();
  const server = createServer((client) => {
    const connection = new ProxiedConnection(client, connect(broker), choose, () =>
      connections.delete(connection),
    );
    connections.add(connection);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The proxy has no port.');
  return {
    routeTo: () => ({ host: '127.0.0.1', port: address.port }),
    close: async () => {
      for (const connection of connections) connection.cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const requestNames = new Map<number, TransactionRequest>(
  Object.entries(transactionRequests).map(([name, key]) => [key, name as TransactionRequest]),
);

class ProxiedConnection {
  readonly #client: Socket;
  readonly #broker: Socket;
  readonly #choose: (request: TransactionRequest) => Fault | undefined;
  /** What happens to the answers that are still to come, by correlation id. */
  readonly #answerFaults = new Map<number, Fault>();

  constructor(
    client: Socket,
    broker: Socket,
    choose: (request: TransactionRequest) => Fault | undefined,
    onClose: () => void,
  ) {
    this.#client = client;
    this.#broker = broker;
    this.#choose = choose;
    client.setNoDelay(true);
    broker.setNoDelay(true);
    client.on(
      'data',
      inFrames((frame) => this.#fromClient(frame)),
    );
    broker.on(
      'data',
      inFrames((frame) => this.#fromBroker(frame)),
    );
    client.on('error', () => client.destroy());
    broker.on('error', () => broker.destroy());
    // A request that is held back must still reach the broker when the client has given up.
    client.on('close', () => setTimeout(() => broker.end(), LATE_REQUESTS_MS));
    broker.on('close', () => {
      client.destroy();
      onClose();
    });
  }

  cut(): void {
    this.#client.destroy();
    this.#broker.destroy();
  }

  #fromClient(frame: Buffer): void {
    const name = requestNames.get(frame.readInt16BE(4));
    const fault = name === undefined ? undefined : this.#choose(name);
    if (fault === undefined) this.#broker.write(frame);
    else if (fault.at === 'answer') {
      this.#answerFaults.set(frame.readInt32BE(8), fault);
      this.#broker.write(frame);
    } else this.#strike(fault, () => this.#broker.write(frame));
  }

  #fromBroker(frame: Buffer): void {
    const fault = this.#answerFaults.get(frame.readInt32BE(4));
    this.#answerFaults.delete(frame.readInt32BE(4));
    if (fault === undefined) this.#client.write(frame);
    else this.#strike(fault, () => this.#client.write(frame));
  }

  #strike(fault: Fault, deliver: () => void): void {
    switch (fault.kind) {
      case 'cut':
        this.cut();
        break;
      case 'delay':
        setTimeout(deliver, fault.ms);
        break;
      case 'drop':
        break;
    }
  }
}

/** Longer than any delay that a test asks for. */
const LATE_REQUESTS_MS = 5_000;

/** Collects bytes into Kafka's frames: a length of four bytes, and as many bytes. */
function inFrames(onFrame: (frame: Buffer) => void): (bytes: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);
  return (bytes) => {
    pending = pending.length === 0 ? bytes : Buffer.concat([pending, bytes]);
    while (pending.length >= 4) {
      const end = 4 + pending.readInt32BE(0);
      if (pending.length < end) return;
      onFrame(pending.subarray(0, end));
      pending = pending.subarray(end);
    }
  };
}
