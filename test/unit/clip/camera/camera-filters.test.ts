import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { cameraFilters } from '#workers/clip/camera/camera-filters.ts';
import type { CameraScene } from '#workers/clip/camera/camera-plan.ts';

const tools = await locateMediaTools({}, process.env['PATH'] ?? '');
const shown = { width: 440, height: 240 };
const output = { width: 270, height: 480 };
const framesPerSecond = 25;

/** Renders scenes of one second a cut over a picture whose brightness grows evenly from left to right. */
async function brightness(scenes: readonly CameraScene[], seconds = 1): Promise<readonly Buffer[]> {
  const cuts = [{ cut: { start_ms: 0, end_ms: seconds * 1000 }, frames: seconds * framesPerSecond }];
  const order = { scenes, cuts, framesPerSecond, stored: shown, shown, output };
  const source = `color=s=440x240:r=25:d=${seconds},format=yuv420p,geq=lum='20+X/2':cb=128:cr=128[seen]`;
  const graph = `${source};${cameraFilters(order, { from: 'seen', to: 'framed' })};[framed]format=yuv420p,extractplanes=y[v]`;
  const { stdout } = await promisify(execFile)(
    tools.ffmpegPath,
    ['-v', 'error', '-filter_complex', graph, '-map', '[v]', '-f', 'rawvideo', '-pix_fmt', 'gray', '-'],
    { encoding: 'buffer', maxBuffer: 1 << 28, timeout: 60_000 },
  );
  const bytes = output.width * output.height;
  return Array.from({ length: stdout.length / bytes }, (_, frame) =>
    stdout.subarray(frame * bytes, (frame + 1) * bytes),
  );
}

/** Around which column of the source a frame's column lies, by the brightness of 11 columns over all rows. */
function sourceX(frame: Buffer | undefined, column: number): number {
  let sum = 0;
  for (let row = 0; row < output.height; row += 1) {
    for (let near = column - 5; near <= column + 5; near += 1) sum += frame?.[row * output.width + near] ?? 0;
  }
  // Brightness is cut to whole numbers: half of a column's step is lost on average.
  return (sum / output.height / 11 - 20) * 2 + 0.5;
}

const box = (x: number, width = 135): { x: number; y: number; width: number; height: number } => ({
  x,
  y: (240 - (width * 16) / 9) / 2,
  width,
  height: (width * 16) / 9,
});
const crop = (start_ms: number, end_ms: number, ...path: [number, number, number?][]): CameraScene => ({
  start_ms,
  end_ms,
  layout: { kind: 'crop', path: path.map(([at_ms, x, width]) => ({ at_ms, box: box(x, width) })) },
});

describe('cameraFilters', () => {
  it('moves by pixels of the clip, not of the source', async () => {
    const frames = await brightness([crop(0, 1000, [0, 100], [960, 124])]);
    expect(frames).toHaveLength(25);
    const positions = frames.map((frame) => sourceX(frame, 135));
    for (const [frame, position] of positions.entries()) {
      expect(Math.abs(position - (100 + 67.5 + frame))).toBeLessThan(1.2);
    }
  });

  it('jumps at exactly the frame at which a scene starts', async () => {
    const frames = await brightness([crop(0, 400, [0, 20]), crop(400, 1000, [400, 280])]);
    expect(frames).toHaveLength(25);
    expect(sourceX(frames[9], 135)).toBeLessThan(110);
    expect(sourceX(frames[10], 135)).toBeGreaterThan(320);
  });

  it('zooms around a point', async () => {
    const frames = await brightness([crop(0, 1000, [0, 150, 135], [960, 167.5, 100])]);
    expect(frames).toHaveLength(25);
    for (const frame of [0, 6, 12, 18, 24]) {
      expect(Math.abs(sourceX(frames[frame], 135) - 217.5)).toBeLessThan(1.5);
      const width = 135 - (35 * frame) / 24;
      const measured = ((sourceX(frames[frame], 260) - sourceX(frames[frame], 10)) * 270) / 250;
      expect(Math.abs(measured - width)).toBeLessThan(2);
    }
  });

  it('joins all layouts, still and moving, to exactly the frames of the cut', async () => {
    const whole = { x: 0, y: 0, ...shown };
    const frames = await brightness(
      [
        { start_ms: 0, end_ms: 333, layout: { kind: 'blurred', picture: whole } },
        crop(333, 700, [333, 100], [700, 150]),
        crop(700, 1234, [700, 100, 135], [1234, 120, 120]),
        {
          start_ms: 1234,
          end_ms: 1600,
          layout: { kind: 'stacked', above: box(0), below: { ...whole, width: 300 }, above_share: 0.4 },
        },
        // A single frame, of which `concat` alone would make none.
        crop(1600, 1640, [1600, 50, 120]),
        crop(1640, 2000, [1640, 0]),
      ],
      2,
    );
    expect(frames).toHaveLength(50);
  });

  it('shows a picture that fills the clip without a background', () => {
    const scenes: readonly CameraScene[] = [
      {
        start_ms: 0,
        end_ms: 1000,
        layout: { kind: 'blurred', picture: { x: 0, y: 0, width: 1080, height: 1920 } },
      },
    ];
    const size = { width: 1080, height: 1920 };
    const cuts = [{ cut: { start_ms: 0, end_ms: 1000 }, frames: 25 }];
    const order = { scenes, cuts, framesPerSecond, stored: size, shown: size, output: size };
    expect(cameraFilters(order, { from: 'seen', to: 'framed' })).not.toContain('gblur');
  });
});
