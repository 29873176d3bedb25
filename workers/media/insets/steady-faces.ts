import type { Box } from '../faces/rgb-frame.ts';

/** A face that stays where it is, as the middle one of all its sightings. */
export type SteadyFace = { readonly box: Box; readonly sightings: number };

/** A face in an inset is no higher than this part of the picture. */
const mostHeight = 0.35;
/** A steady face stays within this part of the picture's width. */
const mostWandering = 0.05;
/** ... and is seen in at least this part of the samples. */
const leastPresence = 0.6;

type Group = { centreX: number; centreY: number; readonly boxes: Box[] };

/** Collects small faces and tells which of them kept their place. */
export class SteadyFaces {
  readonly #width: number;
  readonly #height: number;
  #samples = 0;
  #groups: Group[] = [];

  constructor(size: { readonly width: number; readonly height: number }) {
    this.#width = size.width;
    this.#height = size.height;
  }

  /** Takes the faces of the next sample, in pixels of the sampled frame. */
  push(faces: readonly Box[]): void {
    this.#samples += 1;
    for (const box of faces) {
      if (box.bottom - box.top > mostHeight * this.#height) continue;
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      const near = mostWandering * this.#width;
      const group = this.#groups.find((each) => Math.hypot(each.centreX - x, each.centreY - y) <= near);
      if (group === undefined) this.#groups.push({ centreX: x, centreY: y, boxes: [box] });
      else add(group, box, { x, y });
    }
    // A crowd that passes by must not fill memory: groups that cannot become steady are forgotten.
    if (this.#groups.length > 64) {
      this.#groups = this.#groups.toSorted((a, b) => b.boxes.length - a.boxes.length).slice(0, 32);
    }
  }

  /** The steady faces of all samples since the last call, the most present first. */
  take(): readonly SteadyFace[] {
    const least = Math.max(1, this.#samples * leastPresence);
    const steady = this.#groups
      .filter(({ boxes }) => boxes.length >= least)
      .sort((a, b) => b.boxes.length - a.boxes.length)
      .map(({ boxes }) => ({ box: middleBox(boxes), sightings: boxes.length }));
    this.#samples = 0;
    this.#groups = [];
    return steady;
  }
}

function add(group: Group, box: Box, centre: { readonly x: number; readonly y: number }): void {
  const count = group.boxes.push(box);
  group.centreX += (centre.x - group.centreX) / count;
  group.centreY += (centre.y - group.centreY) / count;
}

function middleBox(boxes: readonly Box[]): Box {
  const middle = (side: keyof Box): number => {
    const sorted = boxes.map((box) => box[side]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
  };
  return { left: middle('left'), top: middle('top'), right: middle('right'), bottom: middle('bottom') };
}
