import { createRequire } from 'node:module';
import { crc32c, encoderOf } from './kafkajs-cluster.ts';
import { encodeProduceRequest, type ProduceRequest } from './produce-request.ts';

/** Two repairs to kafkajs 2.2.4, which is pinned: importing this module makes them. */

const requireKafkajs = createRequire(import.meta.url);

/**
 * kafkajs keeps a timer of one millisecond going on every connection, for ever: a look for throttled
 * requests that schedules the next look although none wait. That is a thousand wake-ups a second for each
 * connection of an idle process, and one TimeoutNegativeWarning. The look is needed only while requests wait.
 */
type RequestQueue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests: () => void };

const { prototype }: { prototype: RequestQueue } = requireKafkajs(
  'kafkajs/src/network/requestQueue/index.js',
);
const scheduleAlways = prototype.scheduleCheckPendingRequests;

prototype.scheduleCheckPendingRequests = function scheduleWhenRequestsWait(this: RequestQueue) {
  if (this.pending.length > 0) scheduleAlways.call(this);
};

/**
 * Versions 3 to 7 of the Produce request share this module; each asks for it when it is first used. Nothing
 * here is compressed, so the compression that kafkajs passes is not looked at.
 */
const produceModule = requireKafkajs.resolve('kafkajs/src/protocol/requests/produce/v3/request.js');
const PRODUCE_API_KEY = 0;

requireKafkajs(produceModule);
const loaded = requireKafkajs.cache[produceModule];
if (loaded !== undefined) {
  loaded.exports = (request: ProduceRequest) => ({
    apiKey: PRODUCE_API_KEY,
    apiVersion: 3,
    apiName: 'Produce',
    expectResponse: () => request.acks !== 0,
    encode: async () => encoderOf(encodeProduceRequest(request, crc32c, Date.now())),
  });
}
