import type { Box, CameraLayout, CameraScene } from './camera-plan.ts';

/** A cut of the source and how many of the clip's frames it plays. */
export type CameraCut = {
  readonly cut: { readonly start_ms: number; readonly end_ms: number };
  readonly frames: number;
};

/** The box of the picture at a frame of the clip, in a straight line to the next. */
export type FrameBox = { readonly frame: number; readonly box: Box };

/** A scene in frames of the clip; `to` is the first frame after it. */
export type SceneFrames = {
  readonly from: number;
  readonly to: number;
  readonly layout: CameraLayout;
  /** Of a crop; empty for other layouts. */
  readonly path: readonly FrameBox[];
};

/** A source's frame belongs to the frame of the clip that it is nearest to, as the `fps` filter has it. */
const tolerance = 1e-6;

/** The scenes in frames of the clip. A scene that is shorter than a frame is never shown, and is left out. Pure. */
export function sceneFrames(
  scenes: readonly CameraScene[],
  cuts: readonly CameraCut[],
  framesPerSecond: number,
): readonly SceneFrames[] {
  const placed: SceneFrames[] = [];
  let next = 0;
  let first = 0;
  for (const { cut, frames } of cuts) {
    const frameAt = (ms: number): number => first + ((ms - cut.start_ms) * framesPerSecond) / 1000;
    const last = first + frames;
    const own: SceneFrames[] = [];
    for (let scene = scenes[next]; scene !== undefined; scene = scenes[next]) {
      next += 1;
      own.push(placedScene(scene, frameAt));
      if (scene.end_ms >= cut.end_ms - tolerance) break;
    }
    placed.push(...filling(own, first, last));
    first = last;
  }
  return placed;
}

function placedScene(
  { start_ms, end_ms, layout }: CameraScene,
  frameAt: (ms: number) => number,
): SceneFrames {
  const path = layout.kind === 'crop' ? layout.path : [];
  return {
    from: Math.round(frameAt(start_ms)),
    to: Math.round(frameAt(end_ms)),
    layout,
    path: path.map(({ at_ms, box }) => ({ frame: frameAt(at_ms), box })),
  };
}

/** The scenes of a cut over exactly its frames: rounding must neither leave a gap nor reach into the next cut. */
function filling(scenes: readonly SceneFrames[], first: number, last: number): readonly SceneFrames[] {
  return scenes
    .map((scene, index) => ({
      ...scene,
      from: index === 0 ? first : Math.min(last, scene.from),
      to: index === scenes.length - 1 ? last : Math.min(last, scene.to),
    }))
    .filter(({ from, to }) => to > from);
}

/** The box of a path at a frame; the ends hold. Pure. */
export function boxAt(path: readonly FrameBox[], frame: number): Box {
  const after = path.findIndex((each) => each.frame > frame);
  const last = path[after < 0 ? path.length - 1 : Math.max(0, after - 1)];
  if (last === undefined) throw new Error('a path needs at least one keyframe');
  const next = path[after];
  if (next === undefined || next === last) return last.box;
  const part = (frame - last.frame) / (next.frame - last.frame);
  const between = (side: keyof Box): number => last.box[side] + (next.box[side] - last.box[side]) * part;
  return { x: between('x'), y: between('y'), width: between('width'), height: between('height') };
}

/** The path over the frames from `from` to before `to`, with a keyframe at both ends. Pure. */
export function within(
  path: readonly FrameBox[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly FrameBox[] {
  const inner = path.filter(({ frame }) => frame > from && frame < to - 1);
  const end = to - 1 > from ? [{ frame: to - 1, box: boxAt(path, to - 1) }] : [];
  return [{ frame: from, box: boxAt(path, from) }, ...inner, ...end];
}
