import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import type { SwapContext, SwapProgress } from '#workers/swap/contract.ts';

const root = resolve(import.meta.dirname, '../../..');
/** The project's own sample: a person who talks to the camera. */
export const sample = join(root, 'infra/sample/talk.mp4');

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const run = promisify(execFile);

/** ffmpeg on the tests' own inputs. */
export async function makeMedia(...args: readonly string[]): Promise<void> {
  await run(tools.ffmpegPath, ['-v', 'error', '-y', ...args]);
}

/** What ffprobe says, a line for each entry. */
export async function lines(path: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await run(tools.ffprobePath, ['-v', 'error', '-of', 'csv=p=0', ...args, path]);
  return stdout
    .split('\n')
    .map((line) => line.replace(/,+$/, ''))
    .filter((line) => line !== '');
}

/** The bytes of a file's sound as its packets hold them. */
export async function soundOf(path: string): Promise<string> {
  const { stdout } = await run(tools.ffmpegPath, [
    ...['-v', 'error', '-i', path, '-map', '0:a', '-c', 'copy', '-f', 'md5', '-'],
  ]);
  return stdout;
}

/** Peak signal to noise between two videos inside a part of the picture, in dB; Infinity where they are equal. */
export async function psnr(a: string, b: string, crop: string): Promise<number> {
  const graph = `[0:v]crop=${crop}[a];[1:v]crop=${crop}[b];[a][b]psnr`;
  const { stderr } = await run(tools.ffmpegPath, ['-i', a, '-i', b, '-lavfi', graph, '-f', 'null', '-']);
  const found = /average:(inf|[\d.]+)/.exec(stderr)?.[1];
  return found === 'inf' ? Infinity : Number(found);
}

/** Runs swap work in a task folder of its own, and removes it. */
export async function inSwapFolder<T>(
  work: (context: SwapContext, progress: readonly SwapProgress[]) => Promise<T>,
  label: string | null = null,
): Promise<T> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'swap-test-'));
  const progress: SwapProgress[] = [];
  try {
    return await work(
      {
        tools,
        taskFolder,
        signal: new AbortController().signal,
        onProgress: (step) => void progress.push(step),
        maxSourceDurationMs: 300_000,
        settings: { engine: 'landmark', label, isLicenceAcknowledged: false },
      },
      progress,
    );
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}
