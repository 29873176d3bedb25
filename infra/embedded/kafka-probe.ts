import { createConnection } from 'node:net';

const metadataApiKey = 3;
const metadataVersion = 1;
const correlationId = 7;

/**
 * Whether the broker at 127.0.0.1:`port` serves: it answers a Metadata request (version 1) and lists at
 * least one broker. A broker that only accepts connections, or is still fenced, lists none.
 */
export function isKafkaServing(port: number, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    let received = Buffer.alloc(0);
    const finish = (serving: boolean) => {
      socket.destroy();
      resolve(serving);
    };
    socket.setTimeout(limitMs, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.once('connect', () => socket.write(metadataRequest()));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (received.length >= 12) finish(listsABroker(received));
    });
  });
}

/** Size, header (api key, version, correlation id, no client id), and an empty list of topics. */
function metadataRequest(): Buffer {
  const request = Buffer.alloc(18);
  request.writeInt32BE(14, 0);
  request.writeInt16BE(metadataApiKey, 4);
  request.writeInt16BE(metadataVersion, 6);
  request.writeInt32BE(correlationId, 8);
  request.writeInt16BE(-1, 12);
  request.writeInt32BE(0, 14);
  return request;
}

/** The answer begins with its size, the correlation id, and the number of brokers. */
function listsABroker(answer: Buffer): boolean {
  return answer.readInt32BE(4) === correlationId && answer.readInt32BE(8) >= 1;
}
