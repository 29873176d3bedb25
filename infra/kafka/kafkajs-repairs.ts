import { createRequire } from 'node:module';

/**
 * kafkajs 2.2.4 keeps a timer of one millisecond going on every connection, for ever: a look for throttled
 * requests that schedules the next look although none wait. That is a thousand wake-ups a second for each
 * connection of an idle process, and one TimeoutNegativeWarning. The look is needed only while requests wait.
 */
type RequestQueue = { readonly pending: readonly unknown[]; scheduleCheckPendingRequests: () => void };

const { prototype }: { prototype: RequestQueue } = createRequire(import.meta.url)(
  'kafkajs/src/network/requestQueue/index.js',
);
const scheduleAlways = prototype.scheduleCheckPendingRequests;

prototype.scheduleCheckPendingRequests = function scheduleWhenRequestsWait(this: RequestQueue) {
  if (this.pending.length > 0) scheduleAlways.call(this);
};
