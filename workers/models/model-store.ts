import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ModelEntry, modelManifest } from './model-manifest.ts';

/** A model is not there or not the one that its manifest describes: a broken installation. */
export class ModelUnusable extends Error {
  override readonly name = 'ModelUnusable';
}

type Located = ModelEntry & { readonly folder: string };

const bundledFolder = import.meta.dirname;

/**
 * The model files of this installation: the bundled ones, and over them those of the operator's folder
 * (`MODELS_DIR`), which has a MANIFEST.json of its own and may replace a bundled file by its name.
 */
export class ModelStore {
  readonly #entries: ReadonlyMap<string, Located>;
  /** Files whose bytes this process has compared with their manifest: once is enough. */
  readonly #verified = new Set<string>();

  private constructor(entries: readonly Located[]) {
    this.#entries = new Map(entries.map((entry) => [entry.file, entry]));
  }

  /** Reads the manifests. Throws `ModelUnusable` when one is missing or makes no sense. */
  static async open(operatorFolder?: string): Promise<ModelStore> {
    const bundled = await manifestOf(bundledFolder);
    const own = operatorFolder === undefined ? [] : await manifestOf(operatorFolder);
    return new ModelStore([...bundled, ...own]);
  }

  /** Whether a manifest lists the file. */
  has(file: string): boolean {
    return this.#entries.has(file);
  }

  /** Where a listed file lies. Throws `ModelUnusable`. */
  pathOf(file: string): string {
    const { folder } = this.#entry(file);
    return join(folder, file);
  }

  /** The file's bytes, compared with the manifest when this process reads them first. Throws `ModelUnusable`. */
  async read(file: string): Promise<Buffer> {
    const entry = this.#entry(file);
    const path = join(entry.folder, file);
    const bytes = await readFile(path).catch((cause: unknown) => {
      throw new ModelUnusable(`${path} cannot be read: ${restoring(entry)}`, { cause });
    });
    if (!this.#verified.has(file)) verify(bytes, path, entry);
    this.#verified.add(file);
    return bytes;
  }

  #entry(file: string): Located {
    const entry = this.#entries.get(file);
    if (entry !== undefined) return entry;
    const files = [...this.#entries.keys()].join(', ');
    throw new ModelUnusable(`No manifest lists the model ${file}; these are listed: ${files}`);
  }

  /** Compares every file with its manifest, so that a broken installation shows at start. Throws `ModelUnusable`. */
  async verifyAll(): Promise<void> {
    for (const file of this.#entries.keys()) await this.read(file);
  }
}

function verify(bytes: Buffer, path: string, entry: Located): void {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 === entry.sha256) return;
  throw new ModelUnusable(
    `${path} was altered: its SHA-256 is ${sha256}, the manifest says ${entry.sha256}; ${restoring(entry)}`,
  );
}

function restoring(entry: Located): string {
  return entry.folder === bundledFolder
    ? 'restore it from the repository'
    : `put the file from ${entry.source} there, or take it out of MANIFEST.json`;
}

async function manifestOf(folder: string): Promise<readonly Located[]> {
  const path = join(folder, 'MANIFEST.json');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const needed = 'a folder of models (MODELS_DIR) lists each with file, sha256, source and licence';
    throw new ModelUnusable(`${path} cannot be read: ${needed}`, { cause });
  });
  try {
    return modelManifest.parse(JSON.parse(text)).map((entry) => ({ ...entry, folder }));
  } catch (cause) {
    throw new ModelUnusable(`${path} is no list of models: ${String(cause)}`, { cause });
  }
}
