import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

export type BoundedCopy = {
  readonly from: Readable;
  readonly toPath: string;
  readonly maxBytes: number;
  /** The longest wait for the next piece. */
  readonly idleTimeoutMs: number;
  readonly signal: AbortSignal;
  readonly onBytes?: (bytes: number) => void;
};

export type CopiedFile = { readonly bytes: number; readonly sha256: string };

/** More bytes came than were allowed; what was written so far is incomplete. */
export class CopyTooLarge extends Error {
  override readonly name = 'CopyTooLarge';
}

/** Nothing came for longer than the idle limit. */
export class CopyStalled extends Error {
  override readonly name = 'CopyStalled';
}

/**
 * Writes a stream to a new file, hashing it on the way, and holds it to a size and an idle limit.
 * Refuses a path that exists. The stream is destroyed on any failure; the file is left to its folder's owner.
 */
export async function boundedCopy(copy: BoundedCopy): Promise<CopiedFile> {
  const { from, signal, maxBytes } = copy;
  const hash = createHash('sha256');
  const stall = () => from.destroy(new CopyStalled(`nothing arrived for ${copy.idleTimeoutMs} ms`));
  const abort = () => from.destroy(abortReason(signal));
  const file = await open(copy.toPath, 'wx').catch((error: unknown) => {
    from.destroy();
    throw error;
  });
  const idle = setTimeout(stall, copy.idleTimeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  let bytes = 0;
  try {
    if (signal.aborted) abort();
    for await (const chunk of from as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new CopyTooLarge(`more than ${maxBytes} bytes`);
      hash.update(chunk);
      await file.writeFile(chunk);
      copy.onBytes?.(bytes);
      idle.refresh();
    }
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    clearTimeout(idle);
    signal.removeEventListener('abort', abort);
    from.destroy();
    await file.close();
  }
}

function abortReason(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted');
}
