import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { probeVideo } from '#workers/clip/analyse-video.ts';
import type { ClipPlan, PipelineContext } from '#workers/clip/contract.ts';
import { writeOverlays } from '#workers/clip/overlays/write-overlays.ts';
import { measureArguments, renderArguments } from '#workers/clip/render-command.ts';
import { readMixMeasure } from '#workers/clip/sound/mix-measure.ts';
import { hasSound } from '#workers/clip/sound-graph.ts';

const run = promisify(execFile);

/** An ffmpeg call with all that it needs beside it. */
export type BareRender = {
  readonly program: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
};

/** Everything that has to be there before ffmpeg can render the clip by itself. */
export async function prepareBareRender(
  sourcePath: string,
  plan: ClipPlan,
  item: number,
  context: PipelineContext,
): Promise<BareRender> {
  const clip = plan.clips.find((planned) => planned.item === item);
  if (clip === undefined) throw new Error(`The plan has no clip ${item}.`);
  const source = await probeVideo(sourcePath, context);
  const overlays = await writeOverlays({ heading: clip.heading_overlay, captions: clip.captions }, context);
  const folder = context.taskFolder;
  const order = { sourcePath, source, clip, overlays, music: null, seek: 'index' as const };
  if (hasSound(order)) {
    await runFfmpeg({ ...context, cwd: folder, wallMs: 600_000, args: measureArguments(order) });
  }
  const measure = await readMixMeasure(folder);
  return {
    program: context.tools.ffmpegPath,
    args: ['-nostdin', '-y', ...renderArguments({ ...order, measure, outputPath: join(folder, 'bare.mp4') })],
    folder,
    environment: overlays.environment,
  };
}

/** The call alone; its folder is removed. */
export async function bareRender({ program, args, folder, environment }: BareRender): Promise<void> {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  await run(program, [...args], { cwd: folder, env, maxBuffer: 64 * 1024 ** 2 });
  await rm(folder, { recursive: true });
}
