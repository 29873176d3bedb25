import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figure, measureAnalysis } from './analysis-quality.ts';
import { measureCamera } from './camera-quality.ts';
import { measureChoice } from './choice-quality.ts';
import { measureOverlays } from './overlay-quality.ts';
import { measureRendered } from './rendered-quality.ts';
import { measureSound } from './sound-trials.ts';
import { measureSwaps } from './swap-quality.ts';

const usage = `Measures what the engines do on media whose truth is known, and prints it beside the bars.

  npm run quality -- clips [--media DIR] [FILE...]
  npm run quality -- analysis|choice|camera|overlays|sound|rendered [--media DIR] [FILE...]
  npm run quality -- swaps [--media DIR] [FILE...]

  clips         all of the clip engine but the analysis: each part in turn, and rendered clips with contact sheets
  swaps         faces of pictures in videos, by the landmark engine and, as a baseline, by a plain mesh warp
  --media DIR   a folder with a manifest.json (default: CLIPLEDGER_MEDIA or ../shared/media)
  FILE          only files whose name has this in it
`;

type Measure = (folder: string, only: readonly string[]) => Promise<readonly Figure[]>;

const parts: Readonly<Record<string, Measure>> = {
  analysis: measureAnalysis,
  choice: measureChoice,
  camera: measureCamera,
  overlays: measureOverlays,
  rendered: measureRendered,
  sound: measureSound,
  swaps: measureSwaps,
};
const ofClips: readonly string[] = ['choice', 'camera', 'overlays', 'sound', 'rendered'];

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { media: { type: 'string' }, help: { type: 'boolean' } },
  });
  const [what = '', ...only] = positionals;
  const preset = process.env['CLIPLEDGER_MEDIA'] ?? resolve(import.meta.dirname, '../../../shared/media');
  const folder = resolve(values.media ?? preset);
  const chosen = what === 'clips' ? ofClips : Object.keys(parts).filter((part) => part === what);
  if (values.help === true || chosen.length === 0) {
    process.stdout.write(usage);
    return values.help === true ? 0 : 2;
  }
  if (!existsSync(folder)) {
    process.stderr.write(`There is no folder ${folder}: give one with --media DIR.\n`);
    return 1;
  }
  // One part after the other: what is measured shows while the rest is at work.
  for (const part of chosen) process.stdout.write(table((await parts[part]?.(folder, only)) ?? []));
  return 0;
}

function table(figures: readonly Figure[]): string {
  const widths = (['what', 'measured'] as const).map((column) =>
    Math.max(...figures.map((figure) => figure[column].length)),
  );
  const [whatWidth = 0, measuredWidth = 0] = widths;
  return figures
    .map(
      ({ what, measured, bar }) => `${what.padEnd(whatWidth)}  ${measured.padEnd(measuredWidth)}  ${bar}\n`,
    )
    .join('');
}

process.exitCode = await main(process.argv.slice(2));
