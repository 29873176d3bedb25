import { link, mkdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Downloads an object into a new file. */
type Download = (key: string, path: string, signal: AbortSignal) => Promise<unknown>;

type CachedFile = { readonly path: string; readonly bytes: number };

/**
 * The last sources of this worker, so that the clips of one job share one download. Tasks get hard links: a
 * source may be put out at any time without harm to a task that reads it. What lies under a key never changes.
 */
export class SourceCache {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #download: Download;
  /** The least lately used first. */
  readonly #files = new Map<string, CachedFile>();
  /** Downloads under way; they resolve however the download ends. */
  readonly #arriving = new Map<string, Promise<void>>();
  #made = 0;

  /** `folder` is the cache's own, made when needed; of all sources together at most `maxBytes` are kept. */
  constructor(folder: string, maxBytes: number, download: Download) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#download = download;
  }

  /** Puts the object's content at `path`, a new file that is only read; rejects as the download does. */
  async place(key: string, path: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (await this.#linked(key, path)) return;
      const arrival = this.#arriving.get(key);
      if (arrival === undefined) break;
      await eitherOf(arrival, signal);
    }
    const arrival = this.#download(key, path, signal).then(() => this.keep(key, path));
    this.#arriving.set(
      key,
      arrival.catch(() => undefined),
    );
    try {
      await arrival;
    } finally {
      this.#arriving.delete(key);
    }
  }

  /** Remembers a file that holds an object's content. Where links are not possible, nothing is remembered. */
  async keep(key: string, path: string): Promise<void> {
    const { size: bytes } = await stat(path);
    if (bytes > this.#maxBytes) return;
    this.#made += 1;
    const kept = { path: join(this.#folder, String(this.#made)), bytes };
    const isLinked =
      (await tried(mkdir(this.#folder, { recursive: true }))) && (await tried(link(path, kept.path)));
    if (!isLinked) return;
    await this.#forget(key);
    this.#files.set(key, kept);
    await this.#putOutOldest();
  }

  async #linked(key: string, path: string): Promise<boolean> {
    const cached = this.#files.get(key);
    if (cached === undefined || !(await tried(link(cached.path, path)))) return false;
    // Used last: unless it was put out meanwhile.
    if (this.#files.delete(key)) this.#files.set(key, cached);
    return true;
  }

  async #putOutOldest(): Promise<void> {
    const total = () => [...this.#files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const key of [...this.#files.keys()]) {
      if (total() <= this.#maxBytes) return;
      await this.#forget(key);
    }
  }

  async #forget(key: string): Promise<void> {
    const cached = this.#files.get(key);
    if (cached === undefined) return;
    this.#files.delete(key);
    await tried(unlink(cached.path));
  }
}

/** Whether a file operation went well; the cache is never a reason to fail. */
const tried = (operation: Promise<unknown>): Promise<boolean> =>
  operation.then(
    () => true,
    () => false,
  );

/** Resolves when the arrival is over or the signal aborts. */
async function eitherOf(arrival: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const abort = () => resolve();
  signal.addEventListener('abort', abort, { once: true });
  await Promise.race([arrival, promise]);
  signal.removeEventListener('abort', abort);
}
