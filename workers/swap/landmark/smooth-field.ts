/** A box blur of a square field, three times over itself: nearly a Gaussian of σ ≈ `radius`. Edges are repeated. Pure. */
export function blurField(field: Float32Array, size: number, radius: number): Float32Array {
  const across = new Float32Array(field.length);
  const both = new Float32Array(field.length);
  for (let round = 0; round < 3; round += 1) {
    blurLines(round === 0 ? field : both, across, { size, radius, step: 1, lineStep: size });
    blurLines(across, both, { size, radius, step: size, lineStep: 1 });
  }
  return both;
}

type Lines = {
  readonly size: number;
  readonly radius: number;
  readonly step: number;
  readonly lineStep: number;
};

function blurLines(from: Float32Array, to: Float32Array, { size, radius, step, lineStep }: Lines): void {
  const width = 2 * radius + 1;
  const last = size - 1;
  for (let line = 0; line < size; line += 1) {
    const start = line * lineStep;
    let sum = (from[start] as number) * (radius + 1);
    for (let at = 1; at <= radius; at += 1) sum += from[start + Math.min(last, at) * step] as number;
    for (let at = 0; at < size; at += 1) {
      to[start + at * step] = sum / width;
      sum +=
        (from[start + Math.min(last, at + radius + 1) * step] as number) -
        (from[start + Math.max(0, at - radius) * step] as number);
    }
  }
}

/** A square field of `channels` values a texel, drawn larger: neighbours blended. Pure. */
export function enlarged(field: Float32Array, size: number, channels: number, toSize: number): Float32Array {
  const out = new Float32Array(toSize * toSize * channels);
  const scale = size / toSize;
  for (let y = 0, at = 0; y < toSize; y += 1) {
    const fy = Math.min(size - 1.001, Math.max(0, (y + 0.5) * scale - 0.5));
    const top = Math.floor(fy);
    for (let x = 0; x < toSize; x += 1) {
      const fx = Math.min(size - 1.001, Math.max(0, (x + 0.5) * scale - 0.5));
      const left = Math.floor(fx);
      const [px, py] = [fx - left, fy - top];
      for (let channel = 0; channel < channels; channel += 1, at += 1) {
        const upper = (top * size + left) * channels + channel;
        const lower = upper + size * channels;
        out[at] =
          ((field[upper] as number) * (1 - px) + (field[upper + channels] as number) * px) * (1 - py) +
          ((field[lower] as number) * (1 - px) + (field[lower + channels] as number) * px) * py;
      }
    }
  }
  return out;
}
