import { type FileHandle, open } from 'node:fs/promises';
import type { Resolve } from '../egress/checked-address.ts';
import { EgressFailure } from '../egress/egress-failure.ts';
import { tooLarge } from '../egress/explain-failure.ts';
import type { EgressAllow } from '../egress/forbidden-url.ts';
import { type GuardedResponse, guardedRequest } from '../egress/guarded-request.ts';

export type RemoteFileRequest = {
  readonly url: string;
  /** What is read, for messages: `video`. */
  readonly what: string;
  readonly allow: EgressAllow;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  /** A new file that keeps what was read. */
  readonly cachePath: string;
  /** The largest remote file. */
  readonly maxBytes: number;
  /** The most that is read of it. */
  readonly maxReadBytes: number;
  readonly resolve?: Resolve;
};

const blockBytes = 256 * 1024;
/** Reading straight on doubles the stretch up to here, so that a long table of frames takes few requests. */
const longestStretchBlocks = 16;

/**
 * A stranger's file, read by range requests through the egress guard. What was read is kept in a sparse file, so
 * that nothing is asked twice and memory stays small. Every read counts against `maxReadBytes`.
 */
export class RemoteFile {
  readonly size: number;
  readonly #request: RemoteFileRequest;
  readonly #cache: FileHandle;
  readonly #present = new Set<number>();
  readonly #closed: AbortController;
  #bytesRead = 0;
  #stretchBlocks = 1;
  #lastBlock = -1;
  #queue: Promise<unknown> = Promise.resolve();

  private constructor(request: RemoteFileRequest, size: number, cache: FileHandle, closed: AbortController) {
    this.#request = request;
    this.#closed = closed;
    this.size = size;
    this.#cache = cache;
  }

  /** Asks for the first bytes; undefined when the server does not answer ranges. */
  static async open(asked: RemoteFileRequest): Promise<RemoteFile | undefined> {
    const closed = new AbortController();
    const request = { ...asked, signal: AbortSignal.any([asked.signal, closed.signal]) };
    const response = await askRange(request, 0, blockBytes);
    try {
      const size = totalSize(response, 0);
      if (size === undefined) return undefined;
      if (size > request.maxBytes) throw tooLarge(request);
      const file = new RemoteFile(request, size, await open(request.cachePath, 'wx+'), closed);
      await file.#keep(response, 0, 1).catch(async (error: unknown) => {
        await file.close();
        throw error;
      });
      return file;
    } finally {
      await response.close();
    }
  }

  get bytesRead(): number {
    return this.#bytesRead;
  }

  /** The bytes from `offset` to the end of what one read brings; empty at the end of the file. */
  async read(offset: number): Promise<Buffer> {
    if (offset >= this.size) return Buffer.alloc(0);
    const block = Math.floor(offset / blockBytes);
    // One at a time: two readers of one block must not ask for it twice.
    const fetched = this.#queue.then(() => this.#ensure(block));
    this.#queue = fetched.catch(() => undefined);
    await fetched;
    const end = Math.min(this.size, (block + 1) * blockBytes);
    const piece = Buffer.alloc(end - offset);
    await this.#cache.read(piece, 0, piece.length, offset);
    return piece;
  }

  /** Ends what is being read as well. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#queue;
    await this.#cache.close();
  }

  async #ensure(block: number): Promise<void> {
    if (this.#present.has(block)) return;
    this.#stretchBlocks =
      block === this.#lastBlock + 1 ? Math.min(longestStretchBlocks, this.#stretchBlocks * 2) : 1;
    const blocks = this.#missingFrom(block, this.#stretchBlocks);
    const response = await askRange(this.#request, block * blockBytes, blocks * blockBytes);
    try {
      if (totalSize(response, block * blockBytes) !== this.size) {
        throw new EgressFailure('UNAVAILABLE', `The ${this.#request.what} changed while it was read.`);
      }
      await this.#keep(response, block, blocks);
    } finally {
      await response.close();
    }
  }

  #missingFrom(block: number, atMost: number): number {
    const last = Math.ceil(this.size / blockBytes);
    let blocks = 1;
    while (blocks < atMost && block + blocks < last && !this.#present.has(block + blocks)) blocks += 1;
    return blocks;
  }

  /** Writes an answer down; one that holds less than it said is a failure, and what is beyond is not read. */
  async #keep(response: GuardedResponse, block: number, blocks: number): Promise<void> {
    const end = Math.min(this.size, (block + blocks) * blockBytes);
    let offset = block * blockBytes;
    for await (const piece of response.body as AsyncIterable<Buffer>) {
      const wanted = piece.subarray(0, end - offset);
      this.#bytesRead += piece.length;
      if (this.#bytesRead > this.#request.maxReadBytes) throw this.#tooMuch();
      await this.#cache.write(wanted, 0, wanted.length, offset);
      offset += wanted.length;
      if (offset === end) break;
    }
    if (offset < end) {
      throw new EgressFailure('UNAVAILABLE', `The ${this.#request.what}'s server broke off its answer.`);
    }
    for (let kept = block; kept < block + blocks; kept += 1) this.#present.add(kept);
    this.#lastBlock = block + blocks - 1;
  }

  #tooMuch(): EgressFailure {
    const megabytes = Math.floor(this.#request.maxReadBytes / 1_000_000);
    return new EgressFailure(
      'TOO_LARGE',
      `The ${this.#request.what}'s headers are larger than the limit of ${megabytes} MB.`,
    );
  }
}

function askRange(request: RemoteFileRequest, offset: number, bytes: number): Promise<GuardedResponse> {
  return guardedRequest({ ...request, headers: { range: `bytes=${offset}-${offset + bytes - 1}` } });
}

/** The whole file's size as the answer to a range request gives it; undefined when it is not such an answer. */
function totalSize(response: GuardedResponse, offset: number): number | undefined {
  if (response.status !== 206 || (response.headers['content-encoding'] ?? 'identity') !== 'identity')
    return undefined;
  const range = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(
    String(response.headers['content-range'] ?? ''),
  );
  return range !== null && Number(range[1]) === offset ? Number(range[2]) : undefined;
}
