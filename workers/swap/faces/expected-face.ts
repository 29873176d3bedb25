import type { Box } from '../../media/faces/rgb-frame.ts';
import type { SwapPlan } from '../contract.ts';

/** A plan's knowledge of where the job's one face is, frame by frame. */
export type ExpectedFaces = {
  /** Where the face should be, or undefined where the plan has none. */
  readonly at: (frame: number) => Box | undefined;
  /** Whether another shot begins with this frame. */
  readonly isCut: (frame: number) => boolean;
};

/** Reads a plan. Frames between two that were looked at get a box between theirs. Pure. */
export function expectedFaces(plan: Pick<SwapPlan, 'identity' | 'cut_frames' | 'segments'>): ExpectedFaces {
  const cuts = new Set(plan.cut_frames);
  const rows = plan.identity.map((track, index) => ({ track, index }));
  return {
    at: (frame) => {
      if (!plan.segments.some((each) => each.first_frame <= frame && frame < each.end_frame))
        return undefined;
      const shotStart = plan.cut_frames.findLast((cut) => cut <= frame) ?? 0;
      const shotEnd = plan.cut_frames.find((cut) => cut > frame) ?? Infinity;
      const near = rows
        .filter(({ track }) => {
          const first = track.frames[0] ?? Infinity;
          return first >= shotStart && first < shotEnd;
        })
        .map(({ track }) => ({ track, away: distance(track.frames, frame) }))
        .sort((a, b) => a.away - b.away)[0];
      return near === undefined ? undefined : boxAt(near.track, frame);
    },
    isCut: (frame) => cuts.has(frame),
  };
}

function distance(frames: readonly number[], frame: number): number {
  const [first, last] = [frames[0] ?? 0, frames.at(-1) ?? 0];
  return Math.max(0, first - frame, frame - last);
}

function boxAt(track: SwapPlan['identity'][number], frame: number): Box {
  const after = track.frames.findIndex((each) => each >= frame);
  const right = after < 0 ? track.frames.length - 1 : after;
  const left = Math.max(0, after < 0 ? right : right - 1);
  const [from, to] = [track.frames[left] as number, track.frames[right] as number];
  const part = to === from ? 0 : Math.min(1, Math.max(0, (frame - from) / (to - from)));
  const between = (column: readonly number[]): number =>
    (column[left] as number) * (1 - part) + (column[right] as number) * part;
  return {
    left: between(track.left),
    top: between(track.top),
    right: between(track.right),
    bottom: between(track.bottom),
  };
}
