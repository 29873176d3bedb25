import { guardedInputOptions, inputUrl } from '#infra/media/run-ffmpeg.ts';
import type { Placement } from './heading-layout.ts';
import { fontsFolder } from './task-fonts.ts';

/** Names of ours in the task's folder, in which ffmpeg runs: nothing in them needs escaping in a filter. */
export const headingFile = 'heading.png';
export const captionsFile = 'captions.ass';

/** What was written for a clip's overlays. */
export type WrittenOverlays = {
  readonly heading:
    | (Placement & { readonly file: string; readonly start_ms: number; readonly end_ms: number })
    | null;
  readonly captions: string | null;
  /** What ffmpeg's environment needs, so that it draws with our fonts and no others. */
  readonly environment: Readonly<Record<string, string>>;
};

/** An input of an ffmpeg call, and the options that stand before it. */
export type OverlayInput = { readonly url: string; readonly options: readonly string[] };

/** Cuts are rounded to whole frames: the last of them may lie a little behind the planned end. */
const roundingMs = 100;
const png = { kind: 'image', contentType: 'image/png', demuxer: 'png_pipe' } as const;

/** The inputs that overlays add to an ffmpeg call that runs in the task's folder. Pure. */
export function overlayInputs({ heading }: WrittenOverlays): readonly OverlayInput[] {
  return heading === null ? [] : [{ url: inputUrl(heading.file), options: guardedInputOptions(png) }];
}

/**
 * The filters that draw overlays over the finished picture: from the label `from` to `to`, where the first of
 * `overlayInputs` is input `firstInput`. Captions lie over the heading. Pure.
 */
export function overlayChains(
  { heading, captions }: WrittenOverlays,
  { from, to, firstInput }: { readonly from: string; readonly to: string; readonly firstInput: number },
): readonly string[] {
  const script = captions === null ? 'null' : `ass=filename=${captions}:fontsdir=${fontsFolder}`;
  if (heading === null) return [`[${from}]${script}[${to}]`];
  const shown = `between(t,${seconds(heading.start_ms)},${seconds(heading.end_ms + roundingMs)})`;
  return [
    `[${firstInput}:v]scale=out_color_matrix=bt709:out_range=tv,format=yuva420p[heading]`,
    `[${from}][heading]overlay=x=${heading.x}:y=${heading.y}:eof_action=repeat:enable='${shown}',${script}[${to}]`,
  ];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
