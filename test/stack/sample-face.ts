import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { locateMediaTools } from '#infra/media/media-tools.ts';

const sample = fileURLToPath(new URL('../../infra/sample/talk.mp4', import.meta.url));

/** Writes a photo of one face that can be put into a video, in the format that the path's extension names. */
export const makeFaceImage = (path: string): Promise<void> =>
  makeImage(path, ['-ss', '25', '-i', sample], ['-vf', 'scale=640:-2']);

/** The same without anybody in it. */
export const makeFacelessImage = (path: string): Promise<void> =>
  makeImage(path, ['-f', 'lavfi', '-i', 'testsrc2=s=640x480'], []);

async function makeImage(path: string, input: readonly string[], filter: readonly string[]): Promise<void> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  await promisify(execFile)(ffmpegPath, ['-v', 'error', '-y', ...input, ...filter, '-frames:v', '1', path]);
}
