import { guardedInputOptions, inputUrl } from '#infra/media/run-ffmpeg.ts';
import type { Cut } from './choose/chosen-clip.ts';
import type { RenderOrder } from './render-order.ts';

export type CutOrder = Pick<RenderOrder, 'sourcePath' | 'source' | 'seek'>;

/** An input of an ffmpeg call, and the options that stand before it. */
export type FfmpegInput = { readonly url: string; readonly options: readonly string[] };

/** The source once for each cut, in the order in which they play: input n is cut n. Pure. */
export function cutInputs(order: CutOrder, cuts: readonly Cut[]): readonly FfmpegInput[] {
  return cuts.map((cut) => ({ url: inputUrl(order.sourcePath), options: cutOptions(order, cut) }));
}

/** Where reading starts and ends. After a seek ffmpeg drops frames up to the exact time. */
function cutOptions({ source, seek }: CutOrder, cut: Cut): string[] {
  const guards = [...guardedInputOptions(source.type), '-threads', '2'];
  const duration = seconds(cut.end_ms - cut.start_ms);
  if (cut.start_ms === 0) return [...guards, '-t', duration];
  if (seek === 'decode') return [...guards, '-t', seconds(cut.end_ms)];
  return [...guards, '-ss', seconds(cut.start_ms), '-t', duration];
}

/** What a chain begins with when everything before the cut is decoded and thrown away. Pure. */
export function dropBefore(order: CutOrder, cut: Cut, prefix: '' | 'a'): readonly string[] {
  if (order.seek === 'index' || cut.start_ms === 0) return [];
  const start = seconds(cut.start_ms);
  return [`${prefix}trim=start=${start}`, `${prefix}setpts=PTS-${start}/TB`];
}

/** Milliseconds as ffmpeg takes them. Pure. */
export function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
