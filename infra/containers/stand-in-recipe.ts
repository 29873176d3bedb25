import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Engine, ImageFailure } from './engine.ts';

export type StandInContext = {
  readonly engine: Engine;
  /** The official name under which the stand-in is put. */
  readonly tag: string;
  readonly labels: Readonly<Record<string, string>>;
  /** An empty folder that is removed afterwards. */
  readonly folder: string;
  readonly onProgress: (message: string) => void;
};

/** How to make an image without any registry of images, out of packages that do come here. */
export type StandInRecipe = {
  /** Where the parts come from, for the log: `Maven Central's jars`. */
  readonly from: string;
  /** Changes whenever the image would: a stand-in made by another recipe is made again. */
  fingerprint(): Promise<string>;
  build(context: StandInContext): Promise<void>;
};

const commandLimitMs = 15 * 60_000;
const errorTailLength = 2_000;

/** The folder with the Dockerfile and the scripts of one stand-in. */
export function standInFolder(name: string): string {
  return fileURLToPath(new URL(`stand-in/${name}`, import.meta.url));
}

/** A fingerprint of a stand-in's own files and of whatever else (`inputs`) goes into it. */
export async function fingerprintOf(name: string, inputs: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(inputs));
  const folder = standInFolder(name);
  for (const file of (await readdir(folder)).sort()) {
    hash.update(`\0${file}\0`).update(await readFile(join(folder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}

/** Runs a program that makes a part of an image; a failure names the program and its last words. */
export async function runTool(
  program: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], {
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      env: { ...process.env, ...options.env },
      timeout: commandLimitMs,
      maxBuffer: 64 << 20,
    });
    return stdout;
  } catch (cause) {
    const { code, stderr = '', message } = cause as { code?: unknown; stderr?: string; message: string };
    const words = code === 'ENOENT' ? 'it is not installed.' : (stderr || message).slice(-errorTailLength);
    throw new ImageFailure(`${program} is needed for a stand-in image and failed: ${words}`, { cause });
  }
}
