import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { FontStore, fontNames } from '#workers/clip/overlays/font-store.ts';
import { headingLayout } from '#workers/clip/overlays/heading-layout.ts';
import { contrast } from '#workers/clip/overlays/overlay-colors.ts';
import type { CaptionPlan, HeadingPlan } from '#workers/clip/overlays/overlay-plan.ts';
import { planCaptions } from '#workers/clip/overlays/plan-captions.ts';
import { planHeading } from '#workers/clip/overlays/plan-heading.ts';
import { safeZone } from '#workers/clip/overlays/safe-zone.ts';
import type { OverlayContext, Overlays } from '#workers/clip/overlays/write-overlays.ts';
import type { Figure } from './analysis-quality.ts';
import { drawnFrame } from './overlay-frames.ts';
import { characterErrors, readText } from './read-text.ts';

const texts = {
  short: 'Why nobody tells you this',
  long: 'The one habit that changed how I work forever, and what it cost me before I understood why it matters',
};
const colors = ['white', 'yellow', 'black', 'red', 'blue', 'green', 'orange', 'teal', 'purple', 'pink'];
const tools = await locateMediaTools({}, process.env['PATH'] ?? '');

/**
 * Draws headings in both styles at all positions, and captions in all fonts, and measures them: read back by
 * tesseract, contrast, and whether they stay in the safe zone. Sheets go into a folder named on standard error.
 */
export async function measureOverlays(_folder: string, only: readonly string[]): Promise<readonly Figure[]> {
  const sheets = join(tmpdir(), 'clipledger-quality-sheets');
  await mkdir(sheets, { recursive: true });
  if (only.length > 0) return [];
  const figures = [
    ...(await headings(join(sheets, 'headings.png'))),
    ...(await captions(join(sheets, 'captions.png'))),
  ];
  process.stderr.write(`Sheets of headings and captions are in ${sheets}.\n`);
  return figures;
}

async function headings(sheetPath: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const frames: Buffer[] = [];
  let number = 0;
  for (const style of ['stroke', 'instagram']) {
    for (const position of ['top', 'middle', 'bottom']) {
      for (const [name, text] of Object.entries(texts)) {
        const font = fontNames[number % fontNames.length] ?? '';
        const look = {
          style,
          position,
          font,
          color: colors[number % colors.length] ?? '',
          bg_color: number % 2 === 0 ? 'black' : 'white',
        };
        const plan = planHeading(text, look, 1_000);
        if (plan === null) throw new Error('no heading');
        const drawn = await figuresOf(
          `heading, ${style}, ${position}, ${name}, ${font}`,
          { heading: plan, captions: null },
          text,
        );
        frames.push(drawn.frame);
        figures.push(...drawn.figures, await contrastOf(plan));
        number += 1;
      }
    }
  }
  await sheet(frames, sheetPath);
  return figures;
}

async function captions(sheetPath: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const frames: Buffer[] = [];
  for (const [index, font] of fontNames.entries()) {
    const text = 'This is how captions look';
    const plan = captionPlan(text, font, colors[index] ?? 'white');
    const shown =
      plan.pages[0]?.lines
        .flat()
        .map((word) => word.text)
        .join(' ') ?? '';
    const drawn = await figuresOf(`captions, ${font}`, { heading: null, captions: plan }, shown);
    frames.push(drawn.frame);
    figures.push(...drawn.figures);
  }
  await sheet(frames, sheetPath);
  return figures;
}

function captionPlan(text: string, font: string, color: string): CaptionPlan {
  const words = text.split(' ').map((word, index) => ({
    ...{ text: word, start_ms: index * 300, end_ms: index * 300 + 280 },
    ...{ confidence: 1, cut: 0 },
  }));
  const { plan } = planCaptions(words, { enabled: true, color, font });
  if (plan === null) throw new Error('no captions');
  return plan;
}

async function figuresOf(
  what: string,
  overlays: Overlays,
  text: string,
): Promise<{ frame: Buffer; figures: readonly Figure[] }> {
  return inFolder(async (context) => {
    const drawn = await drawnFrame(overlays, context);
    const read = await readText(drawn, context.taskFolder).catch(() => undefined);
    const letters = [...text.replace(/\s/g, '')].length;
    const right =
      read === undefined
        ? 'no tesseract'
        : `${(100 - (100 * characterErrors(text, read)) / letters).toFixed(1)}%`;
    return {
      frame: drawn,
      figures: [
        { what: `${what}: characters read back`, measured: right, bar: '≥ 95%' },
        { what: `${what}: outside the safe zone`, measured: `${await strayPixels(drawn)} pixels`, bar: '0' },
      ],
    };
  });
}

async function contrastOf(plan: HeadingPlan): Promise<Figure> {
  const fonts = await (await FontStore.open()).stack(plan.font, plan.text);
  const { fill, ground } = headingLayout(plan, fonts, safeZone.bottom - safeZone.top);
  const measured = contrast(fill, ground.color).toFixed(1);
  return { what: `heading, ${plan.style}, ${plan.color}/${plan.bg_color}: contrast`, measured, bar: '≥ 4.5' };
}

/** How many pixels outside the safe zone are not the ground's gray. */
async function strayPixels(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture).greyscale().raw().toBuffer({ resolveWithObject: true });
  let stray = 0;
  for (let at = 0; at < data.length; at += 1) {
    const [x, y] = [at % info.width, Math.floor(at / info.width)];
    const isInside = x >= safeZone.left && x < safeZone.right && y >= safeZone.top && y < safeZone.bottom;
    if (!isInside && Math.abs((data[at] ?? 0) - 128) > 12) stray += 1;
  }
  return stray;
}

const cell = { width: 270, height: 480 };

async function sheet(frames: readonly Buffer[], path: string): Promise<void> {
  const columns = 6;
  const cells = await Promise.all(frames.map((picture) => sharp(picture).resize(cell).toBuffer()));
  await sharp({
    create: {
      width: columns * cell.width,
      height: Math.ceil(frames.length / columns) * cell.height,
      channels: 3,
      background: '#000000',
    },
  })
    .composite(
      cells.map((input, index) => ({
        input,
        left: (index % columns) * cell.width,
        top: Math.floor(index / columns) * cell.height,
      })),
    )
    .png()
    .toFile(path);
}

async function inFolder<T>(work: (context: OverlayContext) => Promise<T>): Promise<T> {
  const taskFolder = await mkdtemp(join(tmpdir(), 'quality-'));
  try {
    return await work({ tools, taskFolder, signal: new AbortController().signal });
  } finally {
    await rm(taskFolder, { recursive: true, force: true });
  }
}
