import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { ProcessFailed, runLimited } from '#infra/media/limited-process.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import type { MediaTools } from '#infra/media/media-tools.ts';
import { mostFileBytes } from '#infra/media/run-ffmpeg.ts';
import { captionHeight, captionLayout } from './caption-layout.ts';
import { captionScript } from './caption-script.ts';
import type { DrawnHeading, HeadingOrder } from './draw-heading.ts';
import { type FontStack, FontStore } from './font-store.ts';
import { headingLayout, headingPlace, overlayGap } from './heading-layout.ts';
import { captionsFile, headingFile, type WrittenOverlays } from './overlay-inputs.ts';
import type { CaptionPlan, HeadingPlan } from './overlay-plan.ts';
import { safeWidth, safeZone } from './safe-zone.ts';
import { placeFonts } from './task-fonts.ts';

export type OverlayContext = {
  readonly tools: MediaTools;
  readonly taskFolder: string;
  readonly signal: AbortSignal;
  /** The operator's own fonts (`FONTS_DIR`). */
  readonly fontsFolder?: string | undefined;
};

export type Overlays = { readonly heading: HeadingPlan | null; readonly captions: CaptionPlan | null };

/**
 * Draws a clip's heading and writes its captions into the task's folder; `overlayInputs` puts them into the ffmpeg
 * call. Captions stand at the bottom of the safe zone, above a heading that is there. Throws `MediaFailure`.
 */
export async function writeOverlays(overlays: Overlays, context: OverlayContext): Promise<WrittenOverlays> {
  const { heading, captions } = overlays;
  if (heading === null && captions === null) return { heading: null, captions: null, environment: {} };
  const store = await FontStore.open(context.fontsFolder);
  const headingFonts = heading === null ? null : await store.stack(heading.font, `${heading.text}|`);
  const captionFonts = captions === null ? null : await store.stack(captions.font, wordsOf(captions));
  // The bar by which drawn lines are aligned is always of this font.
  const strut = heading === null ? [] : [await store.strut()];
  const fonts = [...(headingFonts ?? []), ...(captionFonts ?? []), ...strut];
  const environment = await placeFonts(fonts, context.taskFolder);
  const captionsHeight = captionFonts === null ? 0 : captionHeight(captionLayout(captionFonts), captionFonts);
  const drawn =
    heading === null || headingFonts === null
      ? null
      : await placedHeading(heading, { fonts: headingFonts, environment, captionsHeight }, context);
  if (captions !== null && captionFonts !== null) {
    const isBelow = heading?.position === 'bottom' && drawn !== null;
    const layout = captionLayout(captionFonts, isBelow ? drawn.y - overlayGap : safeZone.bottom);
    await writeFile(join(context.taskFolder, captionsFile), captionScript(captions, layout, captionFonts));
  }
  return { heading: drawn, captions: captions === null ? null : captionsFile, environment };
}

type HeadingSetting = {
  readonly fonts: FontStack;
  readonly environment: Readonly<Record<string, string>>;
  /** How much of the height captions take; 0 without. */
  readonly captionsHeight: number;
};

async function placedHeading(
  plan: HeadingPlan,
  { fonts, environment, captionsHeight }: HeadingSetting,
  context: OverlayContext,
): Promise<NonNullable<WrittenOverlays['heading']>> {
  const taken = captionsHeight === 0 ? 0 : captionsHeight + overlayGap;
  const mostHeight = safeZone.bottom - safeZone.top - taken;
  const order: HeadingOrder = {
    layout: headingLayout(plan, fonts, mostHeight),
    families: fonts.map(({ family }) => family),
    mostWidth: safeWidth,
    mostHeight,
    pngPath: join(context.taskFolder, headingFile),
  };
  const drawn = await drawInChild(order, environment, context);
  const captionsTop = captionsHeight === 0 ? null : safeZone.bottom - captionsHeight;
  const { position, below_px, start_ms, end_ms } = plan;
  const place = headingPlace(position, drawn, captionsTop, below_px);
  return { file: headingFile, ...place, start_ms, end_ms };
}

function wordsOf(captions: CaptionPlan): string {
  return captions.pages.flatMap(({ lines }) => lines.flat().map(({ text }) => text)).join(' ');
}

const drawnHeading = z.object({ width: z.int().min(1), height: z.int().min(1) });
const wallMs = 60_000;
const memoryBytes = 2 * 1024 ** 3;

/** In a process of its own: which fonts there are is settled for a whole process, by its environment. */
async function drawInChild(
  order: HeadingOrder,
  environment: Readonly<Record<string, string>>,
  { tools, taskFolder, signal }: OverlayContext,
): Promise<DrawnHeading> {
  const pieces: Buffer[] = [];
  const main = fileURLToPath(new URL('draw-heading-main.ts', import.meta.url));
  try {
    await runLimited({
      tools,
      program: process.execPath,
      args: [main, JSON.stringify(order)],
      cwd: taskFolder,
      env: environment,
      limits: { wallMs, memory: { kind: 'data', bytes: memoryBytes }, fileBytes: mostFileBytes },
      signal,
      onStdout: (piece) => pieces.push(piece),
    });
  } catch (error) {
    if (!(error instanceof ProcessFailed)) throw error;
    throw new MediaFailure('TOOL_BROKEN', 'The heading could not be drawn.', {
      cause: error,
      detail: `${error.message}: ${error.stderrTail.slice(-1500)}`,
    });
  }
  return drawnHeading.parse(JSON.parse(Buffer.concat(pieces).toString('utf8')));
}
