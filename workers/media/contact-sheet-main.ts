import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parseConfig } from '#infra/config.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { writeContactSheet } from './contact-sheet.ts';

const usage = `Writes a PNG grid of a video's frames, each with its time.

  node workers/media/contact-sheet-main.ts VIDEO PNG [--frames N] [--columns N]

  --frames N   how many frames, evenly spread (1 to 100; default 12)
  --columns N  how many side by side (default 6)
`;

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { frames: { type: 'string' }, columns: { type: 'string' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  const [video, png] = positionals;
  const [frames, columns] = [count(values.frames, 12), count(values.columns, 6)];
  if (video === undefined || png === undefined || frames === undefined || columns === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const tools = await locateMediaTools(parseConfig(process.env), process.env['PATH'] ?? '');
  const taskFolder = await mkdtemp(join(tmpdir(), 'contact-sheet-'));
  const abort = new AbortController();
  process.once('SIGINT', () => abort.abort());
  process.once('SIGTERM', () => abort.abort());
  try {
    const sheet = { videoPath: resolve(video), pngPath: resolve(png), frames, columns };
    await writeContactSheet(sheet, { tools, taskFolder, signal: abort.signal });
    return 0;
  } catch (error) {
    if (!(error instanceof MediaFailure)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}

function count(text: string | undefined, preset: number): number | undefined {
  if (text === undefined) return preset;
  const number = Number(text);
  return Number.isInteger(number) && number >= 1 && number <= 100 ? number : undefined;
}

process.exitCode = await main(process.argv.slice(2));
