import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { drawnFrame } from '#test/quality/overlay-frames.ts';
import { characterErrors, readText } from '#test/quality/read-text.ts';
import type { CaptionPlan } from '#workers/clip/overlays/overlay-plan.ts';
import { planHeading } from '#workers/clip/overlays/plan-heading.ts';
import { safeZone } from '#workers/clip/overlays/safe-zone.ts';
import { writeOverlays } from '#workers/clip/overlays/write-overlays.ts';

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const tesseract = await promisify(execFile)('tesseract', ['--version']).then(
  () => 'tesseract',
  () => undefined,
);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'overlays-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const task = async () => ({
  tools,
  taskFolder: await mkdtemp(join(folder, 'task-')),
  signal: new AbortController().signal,
});
const heading = (text: string, over: object = {}) => planHeading(text, over, 4_000);

const words = ['Nobody', 'knows', 'this'].map((text, index) => ({
  text,
  start_ms: index * 500,
  end_ms: index * 500 + 400,
}));
const captions: CaptionPlan = {
  color: 'green',
  font: 'Proxima Nova',
  pages: [{ start_ms: 0, end_ms: 1_500, lines: [words.slice(0, 2), words.slice(2)] }],
};

describe('overlays in the task’s folder', { timeout: 60_000 }, () => {
  test('are drawn with our fonts alone, linked and named to ffmpeg', async () => {
    const context = await task();
    const written = await writeOverlays({ heading: heading('שלום Привет 🔥'), captions }, context);
    const linked = await readdir(join(context.taskFolder, 'overlay-fonts'));
    expect(linked.toSorted()).toEqual([
      'Figtree-ExtraBold.ttf',
      'Montserrat-ExtraBold.ttf',
      'NotoSans-ExtraBold.ttf',
      'NotoSansHebrew-ExtraBold.ttf',
      'TwemojiMozilla.ttf',
    ]);
    expect(await readlink(join(context.taskFolder, 'overlay-fonts', 'Figtree-ExtraBold.ttf'))).toMatch(
      /overlays\/fonts/,
    );
    const config = await readFile(written.environment['FONTCONFIG_FILE'] ?? '', 'utf8');
    expect(config).toContain(`<dir>${context.taskFolder}/overlay-fonts</dir>`);
    expect(config).not.toContain('include');
  });

  test('are written again over an earlier try, and are none where nothing is drawn', async () => {
    const context = await task();
    await writeOverlays({ heading: heading('One'), captions: null }, context);
    const again = await writeOverlays({ heading: heading('One'), captions: null }, context);
    expect(again.heading).toMatchObject({ file: 'heading.png', start_ms: 0, end_ms: 4_000 });
    expect(await writeOverlays({ heading: null, captions: null }, await task())).toEqual({
      heading: null,
      captions: null,
      environment: {},
    });
  });

  test('stay inside the safe zone and apart, wherever the heading is', async () => {
    for (const position of ['top', 'middle', 'bottom']) {
      const text = 'A heading that goes on over a few lines, as some do 🎉';
      const frame = await drawnFrame(
        { heading: heading(text, { position, style: 'instagram' }), captions },
        await task(),
      );
      const ink = await inkRows(frame);
      expect(ink.top).toBeGreaterThanOrEqual(safeZone.top - 2);
      expect(ink.bottom).toBeLessThanOrEqual(safeZone.bottom);
      expect(ink.left).toBeGreaterThanOrEqual(safeZone.left - 2);
      expect(ink.right).toBeLessThanOrEqual(safeZone.right + 2);
      expect(ink.blocks).toBeGreaterThanOrEqual(2);
    }
  });

  test('draw emoji in color, and a highlight in its color', async () => {
    const frame = await drawnFrame({ heading: heading('Fire 🔥'), captions }, await task());
    const { data, info } = await sharp(frame).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    let [orange, green] = [0, 0];
    for (let at = 0; at < data.length; at += 3) {
      const [red = 0, greenness = 0, blue = 0] = data.subarray(at, at + 3);
      const row = Math.floor(at / 3 / info.width);
      if (row < 800 && red > 220 && greenness > 100 && greenness < 180 && blue < 90) orange += 1;
      if (
        row > 1_000 &&
        Math.abs(red - 47) < 25 &&
        Math.abs(greenness - 209) < 25 &&
        Math.abs(blue - 88) < 25
      )
        green += 1;
    }
    expect(orange).toBeGreaterThan(500);
    expect(green).toBeGreaterThan(1_000);
  });
});

describe.skipIf(tesseract === undefined)('a heading, read by tesseract', { timeout: 60_000 }, () => {
  test.each([
    ['stroke', 'top', 'white'],
    ['stroke', 'bottom', 'black'],
    ['instagram', 'middle', 'white'],
  ])('in %s at the %s says what it should', async (style, position, color) => {
    const text = 'The one habit that changed how I work forever';
    const context = await task();
    const frame = await drawnFrame(
      { heading: heading(text, { style, position, color }), captions: null },
      context,
    );
    const read = await readText(frame, context.taskFolder);
    expect(characterErrors(text, read) / text.length).toBeLessThanOrEqual(0.05);
  });
});

type Ink = { top: number; bottom: number; left: number; right: number; blocks: number };

/** Where a frame is not the plain gray of its ground, and in how many blocks with at least ten empty rows between. */
async function inkRows(frame: Buffer): Promise<Ink> {
  const { data, info } = await sharp(frame).greyscale().raw().toBuffer({ resolveWithObject: true });
  const isInk = (x: number, y: number): boolean => Math.abs((data[y * info.width + x] ?? 0) - 128) > 12;
  const rows = Array.from({ length: info.height }, (_, y) => y);
  const columns = Array.from({ length: info.width }, (_, x) => x);
  const inked = rows.filter((y) => columns.some((x) => isInk(x, y)));
  const inkedColumns = columns.filter((x) => inked.some((y) => isInk(x, y)));
  return {
    top: inked[0] ?? 0,
    bottom: (inked.at(-1) ?? 0) + 1,
    left: inkedColumns[0] ?? 0,
    right: (inkedColumns.at(-1) ?? 0) + 1,
    blocks: inked.filter((y, index) => index === 0 || y - (inked[index - 1] ?? 0) > 10).length,
  };
}
