import { type ChildProcess, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { type ContainerRuntimeClient, getContainerRuntimeClient } from 'testcontainers';

/** The Docker API's client, as testcontainers found it (socket, context, `DOCKER_HOST`). */
export type Engine = ContainerRuntimeClient['container']['dockerode'];

/** Building, importing or pulling an image failed; `message` ends with the engine's last words. */
export class ImageFailure extends Error {
  override readonly name = 'ImageFailure';
}

export type BuildRequest = {
  readonly tag: string;
  /** The folder with the Dockerfile; all of `files` below it go to the daemon. */
  readonly contextFolder: string;
  /** Paths relative to the context, files or folders. */
  readonly files: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
};

export type ImportRequest = {
  readonly tag: string;
  /** A root file system as a tar archive. */
  readonly archive: string;
  /** Dockerfile instructions for the image's settings, for example `CMD ["bash"]`. */
  readonly changes: readonly string[];
};

type Progress = { readonly stream?: string; readonly error?: string };

const outputTailLength = 2_000;

/** The Docker daemon that answers on this machine, or undefined. */
export async function findEngine(): Promise<Engine | undefined> {
  try {
    return (await getContainerRuntimeClient()).container.dockerode;
  } catch {
    return undefined;
  }
}

/** The labels of a local image; undefined when there is no such image. */
export async function imageLabels(
  engine: Engine,
  tag: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const image = await inspectImage(engine, tag);
  return image === undefined ? undefined : (image.Config.Labels ?? {});
}

/** The id of the image that bears `tag`; undefined when there is none. */
export async function imageId(engine: Engine, tag: string): Promise<string | undefined> {
  return (await inspectImage(engine, tag))?.Id;
}

/** Pulls an image from its registry; throws `ImageFailure` where it cannot be had. */
export async function pullImage(engine: Engine, tag: string): Promise<void> {
  const output = await engine.pull(tag).catch((cause: unknown) => {
    throw new ImageFailure(`${tag} cannot be pulled: ${messageOf(cause)}`, { cause });
  });
  await finish(engine, output, `Pulling ${tag}`);
}

/** Builds an image with the daemon's own builder, which every daemon has. */
export async function buildImage(engine: Engine, request: BuildRequest): Promise<void> {
  // The owner is root whoever packs it: the same content is the same layer on every machine.
  const reproducible = ['--owner=0', '--group=0', '--numeric-owner'];
  const archive = spawn('tar', ['-C', request.contextFolder, ...reproducible, '-c', ...request.files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const packed = exitOf(archive);
  const output = await engine.buildImage(archive.stdout, {
    t: request.tag,
    labels: { ...request.labels },
    rm: true,
    forcerm: true,
  });
  await Promise.all([finish(engine, output, `Building ${request.tag}`), packed]);
}

/** Makes an image of a root file system. */
export async function importImage(engine: Engine, request: ImportRequest): Promise<void> {
  const [repo, tag] = request.tag.split(':');
  const output = await engine.importImage(createReadStream(request.archive), {
    repo,
    tag,
    changes: request.changes,
  });
  await finish(engine, output as Readable, `Importing ${request.tag}`);
}

/** Reads the engine's progress to its end: that it began with 200 does not mean that it went well. */
async function finish(engine: Engine, output: NodeJS.ReadableStream, what: string): Promise<void> {
  let tail = '';
  await new Promise<void>((resolve, reject) => {
    engine.modem.followProgress(
      output,
      (error) => (error ? reject(new ImageFailure(`${what} failed: ${error.message}\n${tail}`)) : resolve()),
      (progress: Progress) => {
        tail = `${tail}${progress.stream ?? ''}`.slice(-outputTailLength);
      },
    );
  });
}

function exitOf(program: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    program.on('error', (cause) =>
      reject(new ImageFailure(`tar cannot be run: ${cause.message}`, { cause })),
    );
    program.on('close', (code) =>
      code === 0 ? resolve() : reject(new ImageFailure(`tar ended with exit code ${code}.`)),
    );
  });
}

async function inspectImage(engine: Engine, tag: string) {
  try {
    return await engine.getImage(tag).inspect();
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return undefined;
    throw error;
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
