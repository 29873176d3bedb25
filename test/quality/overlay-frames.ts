import { join } from 'node:path';
import sharp from 'sharp';
import { guardedInputOptions, inputUrl, runFfmpeg } from '#infra/media/run-ffmpeg.ts';
import { overlayChains, overlayInputs } from '#workers/clip/overlays/overlay-inputs.ts';
import { frame } from '#workers/clip/overlays/safe-zone.ts';
import { type OverlayContext, type Overlays, writeOverlays } from '#workers/clip/overlays/write-overlays.ts';

const png = { kind: 'image', contentType: 'image/png', demuxer: 'png_pipe' } as const;
const toBt709 = 'out_color_matrix=bt709:out_range=tv';
const tags = 'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709';

/** A clip's first frame with overlays over a plain gray ground, or over a picture, as PNG: drawn as in a render. */
export async function drawnFrame(
  overlays: Overlays,
  context: OverlayContext,
  picture?: string,
): Promise<Buffer> {
  const written = await writeOverlays(overlays, context);
  const ground = join(context.taskFolder, 'ground.png');
  const plain = sharp({ create: { ...frame, channels: 3, background: { r: 128, g: 128, b: 128 } } });
  await (picture === undefined ? plain : sharp(picture).resize({ ...frame, fit: 'cover' }))
    .png()
    .toFile(ground);
  const chains = [
    `[0:v]scale=${toBt709},format=yuv420p,setsar=1,${tags}[framed]`,
    ...overlayChains(written, { from: 'framed', to: 'drawn', firstInput: 1 }),
    '[drawn]scale=in_color_matrix=bt709:in_range=tv,format=rgb24[out]',
  ];
  const pieces: Buffer[] = [];
  await runFfmpeg({
    tools: context.tools,
    cwd: context.taskFolder,
    signal: context.signal,
    wallMs: 60_000,
    env: written.environment,
    args: [
      ...[{ url: inputUrl(ground), options: guardedInputOptions(png) }, ...overlayInputs(written)].flatMap(
        ({ url, options }) => [...options, '-i', url],
      ),
      ...['-filter_complex', chains.join(';'), '-map', '[out]', '-frames:v', '1'],
      ...['-f', 'image2pipe', '-c:v', 'png', 'pipe:1'],
    ],
    onStdout: (piece) => pieces.push(piece),
  });
  return Buffer.concat(pieces);
}
