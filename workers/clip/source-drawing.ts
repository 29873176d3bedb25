import type { Box, CameraScene } from './camera/camera-plan.ts';
import { boxAt } from './camera/scene-frames.ts';
import type { PlannedClip } from './contract.ts';

type Size = { readonly width: number; readonly height: number };

export type DrawnFrame = {
  /** Which of the sheet's frames it is. */
  readonly index: number;
  /** When it plays, from the clip's start. */
  readonly clipMs: number;
  /** Of the frame on the sheet. */
  readonly size: Size;
  /** Of the source's picture as shown, in which the plan measures. */
  readonly shown: Size;
};

/**
 * An SVG to lay over a source frame: faces in green, what the camera shows in yellow, its way through the scene in
 * blue, and the words that are captioned at that moment below. Pure.
 */
export function sourceDrawing(clip: PlannedClip, frame: DrawnFrame): Buffer {
  const { size, shown } = frame;
  const [across, down] = [size.width / shown.width, size.height / shown.height];
  const scaled = (box: Box): Box => ({
    x: box.x * across,
    y: box.y * down,
    width: box.width * across,
    height: box.height * down,
  });
  const faces = (clip.faces[frame.index]?.boxes ?? []).map((box) => outline(scaled(box), '#3f6', 2));
  const playing = sceneAt(clip.camera.scenes, frame.clipMs);
  const seen = playing === undefined ? [] : shownBoxes(playing).map((box) => outline(scaled(box), '#fd0', 3));
  const way = playing === undefined ? '' : cameraWay(playing.scene, scaled);
  const words = caption(captionAt(clip, frame.clipMs), size);
  const parts = [...faces, ...seen, way, words].join('');
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}">${parts}</svg>`,
  );
}

type PlayingScene = { readonly scene: CameraScene; readonly sourceMs: number };

/** Scenes follow each other in the clip as they stand in the plan, though their times in the source may not. */
function sceneAt(scenes: readonly CameraScene[], clipMs: number): PlayingScene | undefined {
  let startMs = 0;
  for (const scene of scenes) {
    const lengthMs = scene.end_ms - scene.start_ms;
    if (clipMs < startMs + lengthMs) return { scene, sourceMs: scene.start_ms + clipMs - startMs };
    startMs += lengthMs;
  }
  return undefined;
}

function shownBoxes({ scene: { layout }, sourceMs }: PlayingScene): readonly Box[] {
  switch (layout.kind) {
    case 'blurred':
      return [layout.picture];
    case 'stacked':
      return [layout.above, layout.below];
    case 'crop':
      return [
        boxAt(
          layout.path.map(({ at_ms, box }) => ({ frame: at_ms, box })),
          sourceMs,
        ),
      ];
  }
}

function cameraWay({ layout }: CameraScene, scaled: (box: Box) => Box): string {
  if (layout.kind !== 'crop') return '';
  const points = layout.path.map(({ box }) => {
    const { x, y, width, height } = scaled(box);
    return `${(x + width / 2).toFixed(1)},${(y + height / 2).toFixed(1)}`;
  });
  return `<polyline points="${points.join(' ')}" fill="none" stroke="#4af" stroke-width="2"/>`;
}

function outline({ x, y, width, height }: Box, color: string, line: number): string {
  const numbers = [x, y, width, height].map((value) => value.toFixed(1));
  const [left, top, across, down] = numbers;
  return `<rect x="${left}" y="${top}" width="${across}" height="${down}" fill="none" stroke="${color}" stroke-width="${line}"/>`;
}

function captionAt({ captions }: PlannedClip, clipMs: number): string {
  const page = captions?.pages.find(({ start_ms, end_ms }) => start_ms <= clipMs && clipMs < end_ms);
  return (page?.lines ?? []).flatMap((words) => words.map(({ text }) => text)).join(' ');
}

function caption(text: string, { width, height }: Size): string {
  if (text === '') return '';
  const escaped = text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const place = `x="${width / 2}" y="${height - 12}" text-anchor="middle" font-family="sans-serif" font-size="18"`;
  const strip = `<rect y="${height - 32}" width="${width}" height="32" fill="#000" fill-opacity="0.6"/>`;
  return `${strip}<text ${place} fill="#fff">${escaped}</text>`;
}
