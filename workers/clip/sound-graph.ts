import { framesPerSecond, type PlayedCut } from './clip-timeline.ts';
import { type CutOrder, dropBefore } from './cut-inputs.ts';
import type { RenderOrder } from './render-order.ts';
import type { SoundMix } from './sound/mix-graph.ts';

export const audioRate = 48_000;
/** Too short to hear as a fade, long enough not to click. */
const fadeSeconds = 0.03;

type SoundOrder = CutOrder & Pick<RenderOrder, 'music'>;

/** Whether there is anything to measure. Pure. */
export function hasSound({ source, music }: Pick<SoundOrder, 'source' | 'music'>): boolean {
  return source.audio !== null || music !== null;
}

/** The parts of a clip's sound, for a call whose music is input `musicInput` where there is some. Pure. */
export function soundMix(order: SoundOrder, played: readonly PlayedCut[], musicInput: number): SoundMix {
  return {
    spoken: order.source.audio === null ? null : 'spoken',
    musicInput: order.music === null ? null : musicInput,
    samples: sampleAt(played.at(-1)?.clipEndMs ?? 0),
  };
}

/** The cuts' sound one after the other, `[spoken]`; none for a source without sound. Pure. */
export function spokenChains(
  order: SoundOrder,
  played: readonly PlayedCut[],
  rate: string,
): readonly string[] {
  if (order.source.audio === null) return [];
  const labels = played.map((_, index) => `[heard${index}]`).join('');
  const join = played.length === 1 ? 'anull' : `concat=n=${played.length}:v=0:a=1`;
  return [
    ...played.map((cut, index) => `${cutSound(order, cut, index, rate)}[heard${index}]`),
    `${labels}${join}[spoken]`,
  ];
}

/** A cut's sound from its very start (late sound is preceded by silence), in stereo, as long as its picture. */
function cutSound(order: SoundOrder, played: PlayedCut, index: number, rate: string): string {
  const samples = sampleAt(played.clipEndMs) - sampleAt(played.clipStartMs);
  const fadeOut = (played.frames / framesPerSecond(rate) - fadeSeconds).toFixed(3);
  const chain = [
    ...dropBefore(order, played.cut, 'a'),
    `aresample=${audioRate}:async=1000:first_pts=0`,
    'aformat=sample_fmts=fltp:channel_layouts=stereo',
    `apad,atrim=end_sample=${samples}`,
    `afade=t=in:d=${fadeSeconds},afade=t=out:st=${fadeOut}:d=${fadeSeconds}`,
  ];
  return `[${index}:${order.source.audio?.index ?? 0}]${chain.join(',')}`;
}

function sampleAt(clipMs: number): number {
  return Math.round((clipMs / 1000) * audioRate);
}
