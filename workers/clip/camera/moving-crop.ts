import type { Box } from './camera-plan.ts';
import type { Movement } from './camera-segments.ts';
import { frameExpression, type LinearPiece, shortNumber } from './frame-expression.ts';
import { evenAtLeast, type Size, scaledTo, storedBox } from './picture-pixels.ts';
import type { FrameBox } from './scene-frames.ts';

type Picture = {
  readonly stored: Size;
  readonly shown: Size;
  readonly output: Size;
};

/** Source pixels around the box that are enlarged with it: one for each side's rounding to even, and a spare. */
const spare = 3;

/**
 * A box of constant size that moves: a window of whole source pixels follows it, is enlarged, and of that the
 * exact part is cut, so that the picture moves by single pixels of the clip and no more than the box is
 * enlarged. `from` is the frame at which this chain's numbering starts. Pure.
 */
export function movingCrop(movements: readonly Movement[], from: number, picture: Picture): string {
  const { stored, output } = picture;
  const paths = movements.map((movement) => inStoredPixels(movement, from, picture));
  const box = paths[0]?.path[0]?.box;
  if (box === undefined) throw new Error('a movement needs at least one keyframe');
  const window = {
    width: evenAtLeast(Math.ceil(box.width) + spare, 2, stored.width),
    height: evenAtLeast(Math.ceil(box.height) + spare, 2, stored.height),
  };
  const enlarged = {
    width: evenAtLeast((window.width / box.width) * output.width, output.width, Infinity),
    height: evenAtLeast((window.height / box.height) * output.height, output.height, Infinity),
  };
  const across = axis(paths, 'x', {
    most: stored.width - window.width,
    scale: enlarged.width / window.width,
  });
  const down = axis(paths, 'y', {
    most: stored.height - window.height,
    scale: enlarged.height / window.height,
  });
  return [
    `crop=w=${window.width}:h=${window.height}:x='${across.window}':y='${down.window}'`,
    scaledTo(enlarged),
    `crop=w=${output.width}:h=${output.height}:x='${across.exact}':y='${down.exact}':exact=1`,
  ].join(',');
}

/** The window's even position, and where the box begins in the enlarged window. */
function axis(
  paths: readonly Movement[],
  side: 'x' | 'y',
  { most, scale }: { readonly most: number; readonly scale: number },
): { window: string; exact: string } {
  const position = frameExpression(pieces(paths, (box) => box[side]));
  const even = `clip(2*floor(ld(0)/2),0,${Math.max(0, Math.floor(most / 2) * 2)})`;
  return {
    window: `st(0,${position});${even}`,
    exact: `st(0,${position});max(0,round((ld(0)-${even})*${shortNumber(scale, 6)}))`,
  };
}

/**
 * A box that changes its size: the part of the source that holds all of it is enlarged frame by frame and the
 * exact part is cut. Setting up the scaler for each frame costs some milliseconds, so only true zooms take
 * this way. Pure.
 */
export function zoomingCrop(movement: Movement, from: number, picture: Picture): string {
  const { stored, output } = picture;
  const own = inStoredPixels(movement, from, picture);
  const window = holdingWindow(own.path, stored);
  const width = frameExpression(pieces([own], (box) => box.width));
  const height = frameExpression(pieces([own], (box) => box.height));
  const enlarged = (side: string, length: number, out: number): string =>
    `max(${out},2*round(${length * out}/(${side})/2))`;
  const [across, down] = [
    enlarged(width, window.width, output.width),
    enlarged(height, window.height, output.height),
  ];
  const exact = (side: 'x' | 'y', start: number, length: number, scaled: string): string =>
    `max(0,round((${frameExpression(pieces([own], (box) => box[side]))}-${start})*${scaled}/${length}))`;
  return [
    `crop=${window.width}:${window.height}:${window.x}:${window.y}`,
    `scale=w='${across}':h='${down}':flags=bicubic:eval=frame`,
    `crop=w=${output.width}:h=${output.height}:x='${exact('x', window.x, window.width, across)}':` +
      `y='${exact('y', window.y, window.height, down)}':exact=1,setsar=1`,
  ].join(',');
}

function holdingWindow(path: readonly FrameBox[], stored: Size): Box {
  const start = (side: 'x' | 'y'): number =>
    Math.max(0, Math.floor(Math.min(...path.map(({ box }) => box[side])) / 2) * 2);
  const [x, y] = [start('x'), start('y')];
  const right = Math.max(...path.map(({ box }) => box.x + box.width));
  const bottom = Math.max(...path.map(({ box }) => box.y + box.height));
  const width = evenAtLeast(Math.ceil((right - x) / 2) * 2, 2, stored.width - x);
  const height = evenAtLeast(Math.ceil((bottom - y) / 2) * 2, 2, stored.height - y);
  return { x, y, width, height };
}

/** The movement in the filters' pixels, its frames counted from the chain's first. */
function inStoredPixels({ from: start, path }: Movement, from: number, picture: Picture): Movement {
  const boxes = path.map(({ frame, box }) => ({ frame: frame - from, box: storedBox(box, picture) }));
  return { from: start - from, path: boxes };
}

function pieces(movements: readonly Movement[], measure: (box: Box) => number): readonly LinearPiece[] {
  return movements.flatMap(({ from, path }) =>
    path.map(({ frame, box }, index): LinearPiece => {
      const next = path[index + 1];
      const start = measure(box);
      const slope = next === undefined ? 0 : (measure(next.box) - start) / (next.frame - frame);
      return { from: index === 0 ? Math.min(from, frame) : frame, start, slope };
    }),
  );
}
