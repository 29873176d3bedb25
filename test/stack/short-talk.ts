import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { locateMediaTools } from '#infra/media/media-tools.ts';

const sample = fileURLToPath(new URL('../../infra/sample/talk.mp4', import.meta.url));

/** The first six seconds of the sample, for jobs that only have to become a clip: their work grows with the length. */
export async function makeShortTalk(folder: string): Promise<string> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const path = join(folder, 'short-talk.mp4');
  await promisify(execFile)(ffmpegPath, ['-v', 'error', '-i', sample, '-t', '6', '-c', 'copy', path]);
  return path;
}
