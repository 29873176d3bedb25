import type { Box, CameraScene } from './camera-plan.ts';
import { type CameraSegment, cameraSegments } from './camera-segments.ts';
import { movingCrop, zoomingCrop } from './moving-crop.ts';
import { coverBox, evenAtLeast, type Size, scaledTo, storedBox } from './picture-pixels.ts';
import { type CameraCut, sceneFrames } from './scene-frames.ts';

export type CameraOrder = {
  /** Of all cuts, in the order in which they play. */
  readonly scenes: readonly CameraScene[];
  /** The cuts as the input plays them, one after the other. */
  readonly cuts: readonly CameraCut[];
  /** Constant rate of the input's frames. */
  readonly framesPerSecond: number;
  /** The picture as it comes from the input: upright, 8-bit 4:2:0 in the clip's colours. */
  readonly stored: Size;
  /** The picture as shown, which the plan's boxes are measured in. */
  readonly shown: Size;
  readonly output: Size;
};

/** The background is blurred at a quarter of its size: σ 14 there is σ 56 in the picture, at a sixteenth of the work. */
const backgroundShrink = 4;
const backgroundSigma = 14;
const backgroundBrightness = 0.6;

/**
 * The filters that turn the cuts' frames into the camera's picture: from pad `[from]` to pad `[to]`, which gives
 * frames of exactly the output's size. A picture that moves is enlarged first and cut out afterwards, so it
 * moves by pixels of the clip, not of the source. Other pads are named after `to`. Pure.
 */
export function cameraFilters(
  order: CameraOrder,
  pads: { readonly from: string; readonly to: string },
): string {
  const segments = cameraSegments(sceneFrames(order.scenes, order.cuts, order.framesPerSecond));
  if (segments.length === 0) throw new Error('the camera has no scene for these cuts');
  const [only] = segments;
  if (segments.length === 1 && only !== undefined) return segmentFilters(only, order, pads);
  // `concat` cannot tell how long a single frame lasts: its times are counted anew.
  const renumbered = `setpts=N/${order.framesPerSecond}/TB`;
  const ins = segments.map((_, index) => `${pads.to}in${index}`);
  const outs = segments.map((_, index) => `${pads.to}out${index}`);
  return [
    `[${pads.from}]split=${segments.length}${ins.map((name) => `[${name}]`).join('')}`,
    ...segments.map((segment, index) => {
      const cut = `${pads.to}cut${index}`;
      const own = { from: cut, to: outs[index] ?? '' };
      return `[${ins[index]}]${trim(segment)}[${cut}];${segmentFilters(segment, order, own)}`;
    }),
    `${outs.map((name) => `[${name}]`).join('')}concat=n=${segments.length}:v=1:a=0,${renumbered}[${pads.to}]`,
  ].join(';');
}

function trim({ from, to }: CameraSegment): string {
  const end = to === undefined ? '' : `:end_frame=${to}`;
  return `trim=start_frame=${from}${end},setpts=PTS-STARTPTS`;
}

type Pads = { readonly from: string; readonly to: string };

function segmentFilters({ from, shows }: CameraSegment, order: CameraOrder, pads: Pads): string {
  switch (shows.kind) {
    case 'fixed':
      return `[${pads.from}]${fixedCrop(shows.box, order.output, order)}[${pads.to}]`;
    case 'moving':
      return `[${pads.from}]${movingCrop(shows.movements, from, order)}[${pads.to}]`;
    case 'zooming':
      return `[${pads.from}]${zoomingCrop(shows.movement, from, order)}[${pads.to}]`;
    case 'stacked':
      return stackedFilters(shows, order, pads);
    case 'blurred':
      return blurredFilters(shows.picture, order, pads);
  }
}

/** A box that stands still, on whole pixels: one cut and one scaling, as fast as can be. */
function fixedCrop(box: Box, size: Size, order: CameraOrder): string {
  const { x, y, width, height } = evenBox(storedBox(box, order), order.stored);
  const isWhole = width === order.stored.width && height === order.stored.height;
  const scaled = scaledTo(size);
  return isWhole ? scaled : `crop=${width}:${height}:${x}:${y},${scaled}`;
}

function evenBox(box: Box, { width, height }: Size): Box {
  const across = evenAtLeast(box.width, 2, width);
  const down = evenAtLeast(box.height, 2, height);
  return {
    x: evenAtLeast(box.x, 0, width - across),
    y: evenAtLeast(box.y, 0, height - down),
    width: across,
    height: down,
  };
}

function stackedFilters(
  { above, below, above_share }: Extract<CameraSegment['shows'], { kind: 'stacked' }>,
  order: CameraOrder,
  { from, to }: Pads,
): string {
  const { width, height } = order.output;
  const upper = { width, height: evenAtLeast(height * above_share, 2, height - 2) };
  const lower = { width, height: height - upper.height };
  return [
    `[${from}]split[${to}up][${to}low]`,
    `[${to}up]${fixedCrop(above, upper, order)}[${to}above]`,
    `[${to}low]${fixedCrop(below, lower, order)}[${to}below]`,
    `[${to}above][${to}below]vstack[${to}]`,
  ].join(';');
}

function blurredFilters(picture: Box, order: CameraOrder, { from, to }: Pads): string {
  const { output } = order;
  const scale = Math.min(output.width / picture.width, output.height / picture.height);
  const inside = {
    width: evenAtLeast(picture.width * scale, 2, output.width),
    height: evenAtLeast(picture.height * scale, 2, output.height),
  };
  // Less than a hundredth of a side is no frame around a picture, but an ugly line.
  if (inside.width >= output.width * 0.99 && inside.height >= output.height * 0.99) {
    return `[${from}]${fixedCrop(picture, output, order)}[${to}]`;
  }
  const small = { width: output.width / backgroundShrink, height: output.height / backgroundShrink };
  const darkened = `lutyuv=y=16+(val-16)*${backgroundBrightness}`;
  return [
    `[${from}]split[${to}back][${to}front]`,
    `[${to}back]${fixedCrop(coverBox(picture, output), small, order)},gblur=sigma=${backgroundSigma},${darkened},` +
      `scale=${output.width}:${output.height}:flags=bicubic,setsar=1[${to}behind]`,
    `[${to}front]${fixedCrop(picture, inside, order)}[${to}before]`,
    `[${to}behind][${to}before]overlay=x=(W-w)/2:y=(H-h)/2:eof_action=repeat[${to}]`,
  ].join(';');
}
