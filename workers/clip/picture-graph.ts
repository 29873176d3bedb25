import { cameraFilters } from './camera/camera-filters.ts';
import { framesPerSecond, type PlayedCut } from './clip-timeline.ts';
import { dropBefore } from './cut-inputs.ts';
import { overlayChains } from './overlays/overlay-inputs.ts';
import { clipHeight, clipWidth, type RenderOrder } from './render-order.ts';
import { sheetMoments } from './sheet-moments.ts';
import { type WorkingPicture, workingPicture } from './working-picture.ts';

/** Source frames on a clip's sheet are this high, in pixels. */
export const lookHeight = 360;

/** How wide source frames are on a clip's sheet. Pure. */
export function lookWidth(video: { readonly displayWidth: number; readonly displayHeight: number }): number {
  const width = Math.round((lookHeight * video.displayWidth) / video.displayHeight / 2) * 2;
  return Math.min(1280, Math.max(16, width));
}

/**
 * The picture's filter graph: `[picture]` is the clip's, `[look]` the source's frames that its sheet shows. The
 * cuts are joined first, so that everything after counts the clip's own frames. Pure.
 */
export function pictureGraph(order: RenderOrder, played: readonly PlayedCut[], rate: string): string {
  const { video } = order.source;
  const working = workingPicture(video);
  const inputs = played.map((_, index) => `[cut${index}]`).join('');
  const join = played.length === 1 ? 'null' : `concat=n=${played.length}:v=1:a=0`;
  const camera = cameraFilters(
    {
      scenes: order.clip.camera.scenes,
      cuts: played,
      framesPerSecond: framesPerSecond(rate),
      stored: { width: working.width, height: working.height },
      shown: { width: video.displayWidth, height: video.displayHeight },
      output: { width: clipWidth, height: clipHeight },
    },
    { from: 'seen', to: 'framed' },
  );
  return [
    ...played.map((cut, index) => cutChain(order, { cut, index, rate, working })),
    `${inputs}${join},split[seen][looked]`,
    `[looked]${lookFilters(order, played, rate)}[look]`,
    camera,
    `[framed]${[...flash(order, played), 'format=yuv420p', 'setsar=1'].join(',')}[bare]`,
    ...overlayChains(order.overlays, { from: 'bare', to: 'drawn', firstInput: played.length }),
    `[drawn]format=yuv420p,${colourTags}[picture]`,
  ].join(';');
}

type CutPlace = {
  readonly cut: PlayedCut;
  readonly index: number;
  readonly rate: string;
  readonly working: WorkingPicture;
};

/** One cut at the clip's frame rate, as many frames as it plays. */
function cutChain(order: RenderOrder, { cut, index, rate, working }: CutPlace): string {
  const { video } = order.source;
  const chain = [
    ...dropBefore(order, cut.cut, ''),
    ...(video.interlaced ? ['yadif=deint=interlaced'] : []),
    // `start_time=0` repeats the first frame back to the cut's start, so that sound and picture begin together.
    `fps=fps=${rate}:start_time=0`,
    ...working.filters,
    // A broken tail of the source may lack some frames: half a second is held, more shows in the check.
    'tpad=stop_mode=clone:stop_duration=0.5',
    `trim=end_frame=${cut.frames}`,
  ];
  return `[${index}:${video.index}]${chain.join(',')}[cut${index}]`;
}

function lookFilters(order: RenderOrder, played: readonly PlayedCut[], rate: string): string {
  const moments = sheetMoments(played.at(-1)?.clipEndMs ?? 0);
  const numbers = moments.map((ms) => Math.floor((ms / 1000) * framesPerSecond(rate) + 1e-6));
  const picking = [...new Set(numbers)].map((frame) => `eq(n\\,${frame})`).join('+');
  return `select='${picking}',scale=${lookWidth(order.source.video)}:${lookHeight}:flags=bilinear`;
}

/** A teaser ends in a short flash, so that nobody takes what follows for its next sentence. */
const flashSeconds = 0.25;

function flash(order: RenderOrder, played: readonly PlayedCut[]): string[] {
  const [teaser] = played;
  if (order.clip.hook?.kind !== 'teaser' || teaser === undefined || played.length < 2) return [];
  const start = (teaser.clipEndMs / 1000).toFixed(3);
  return [`fade=t=in:st=${start}:d=${flashSeconds}:c=white:enable='gte(t,${start})'`];
}

const colourTags = 'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709';
