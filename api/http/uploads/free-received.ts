import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** 32 reads from sockets. At 60 MB/s that is 30 looks at the young objects a second, about a millisecond each. */
const EVERY_BYTES = 2 * 1024 * 1024;

// The collector itself, which Node shows only behind a flag.
setFlagsFromString('--expose-gc');
const collectGarbage: NodeJS.GCFunction = runInNewContext('gc');

let receivedBytes = 0;

/**
 * Counts what was received, and has it collected now and then. Each read from a socket is a buffer of 64 KiB
 * beside the heap; V8 would let some 100 MB of them pile up before it looks, with few objects on the heap itself.
 */
export function freeReceived(bytes: number): void {
  receivedBytes += bytes;
  if (receivedBytes < EVERY_BYTES) return;
  receivedBytes = 0;
  collectGarbage({ type: 'minor' });
}
