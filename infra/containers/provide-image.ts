import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Engine, ImageFailure, imageLabels, pullImage } from './engine.ts';
import { type ImageName, imageNames } from './image-names.ts';
import { debianStandIn } from './stand-in-debian.ts';
import { kafkaStandIn } from './stand-in-kafka.ts';
import { nodeStandIn } from './stand-in-node.ts';
import { postgresStandIn } from './stand-in-postgres.ts';
import type { StandInRecipe } from './stand-in-recipe.ts';
import { versitygwStandIn } from './stand-in-versitygw.ts';

/** Where an image came from. */
export type ImageOrigin = 'present' | 'pulled' | 'stand-in, kept' | 'stand-in, built';

export type ProvidedImage = {
  readonly tag: string;
  readonly origin: ImageOrigin;
  /** One line for the log. */
  readonly description: string;
};

/** A stand-in carries the fingerprint of its recipe under this label, and is known by it. */
export const standInLabel = 'clipledger.stand-in';

const recipes: Readonly<Record<ImageName, StandInRecipe>> = {
  debian: debianStandIn,
  node: nodeStandIn,
  kafka: kafkaStandIn,
  postgres: postgresStandIn,
  s3: versitygwStandIn,
};
/** Stand-ins that are built on another image. */
const bases: Readonly<Partial<Record<ImageName, ImageName>>> = {
  node: 'debian',
  kafka: 'debian',
  postgres: 'debian',
};

/** Provides images on one daemon, each once however often it is asked for. */
export class ImageProvider {
  readonly #engine: Engine;
  readonly #say: (line: string) => void;
  readonly #provided = new Map<ImageName, Promise<ProvidedImage>>();

  constructor(engine: Engine, say: (line: string) => void) {
    this.#engine = engine;
    this.#say = say;
  }

  /**
   * The image under its official name: the one that is present, else pulled, else a stand-in built from
   * packages. Says which it was, one line per image.
   */
  provide(name: ImageName): Promise<ProvidedImage> {
    const underway = this.#provided.get(name);
    if (underway !== undefined) return underway;
    const provided = this.#obtain(name).then((image) => {
      this.#say(image.description);
      return image;
    });
    this.#provided.set(name, provided);
    return provided;
  }

  async #obtain(name: ImageName): Promise<ProvidedImage> {
    const tag = imageNames[name];
    const labels = await imageLabels(this.#engine, tag);
    const madeBy = labels?.[standInLabel];
    if (labels !== undefined && madeBy === undefined) {
      return { tag, origin: 'present', description: `image ${tag}: was present` };
    }
    const recipe = recipes[name];
    const fingerprint = await recipe.fingerprint();
    if (madeBy === fingerprint) {
      const description = `image ${tag}: a stand-in from ${recipe.from}, kept from an earlier run`;
      return { tag, origin: 'stand-in, kept', description };
    }
    const refusal = await pullImage(this.#engine, tag).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof ImageFailure) return error;
        throw error;
      },
    );
    if (refusal === undefined) return { tag, origin: 'pulled', description: `image ${tag}: pulled` };
    return this.#buildStandIn(name, fingerprint);
  }

  async #buildStandIn(name: ImageName, fingerprint: string): Promise<ProvidedImage> {
    const tag = imageNames[name];
    const recipe = recipes[name];
    const base = bases[name];
    if (base !== undefined) await this.provide(base);
    const folder = await mkdtemp(join(tmpdir(), `clipledger-image-${name}-`));
    const startedAt = performance.now();
    try {
      await chmod(folder, 0o755);
      await recipe.build({
        engine: this.#engine,
        tag,
        labels: { [standInLabel]: fingerprint },
        folder,
        onProgress: this.#say,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const description = `image ${tag}: cannot be pulled; a stand-in was built from ${recipe.from} in ${seconds} s`;
    return { tag, origin: 'stand-in, built', description };
  }
}
