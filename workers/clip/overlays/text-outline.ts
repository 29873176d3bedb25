/** A picture's opacity, a byte each pixel. */
export type Opacity = { readonly data: Uint8Array; readonly width: number; readonly height: number };

const far = 1e12;

/**
 * The opacity of everything within `radius` pixels of what is opaque, with a smooth edge: an outline of even
 * width around letters and emoji alike. Pure. Distances after Felzenszwalb and Huttenlocher, "Distance
 * transforms of sampled functions" (2012): exact, in linear time.
 */
export function outlined({ data, width, height }: Opacity, radius: number): Uint8Array {
  const squares = new Float64Array(width * height);
  for (let index = 0; index < squares.length; index += 1)
    squares[index] = (data[index] ?? 0) >= 128 ? 0 : far;
  for (let x = 0; x < width; x += 1) transformLine(squares, { start: x, step: width, length: height });
  for (let y = 0; y < height; y += 1) transformLine(squares, { start: y * width, step: 1, length: width });
  return Uint8Array.from(squares, (square) =>
    Math.round(255 * Math.min(1, Math.max(0, radius + 0.5 - Math.sqrt(square)))),
  );
}

type Line = { readonly start: number; readonly step: number; readonly length: number };

/** Each value becomes the least of the values plus the squared distance to them: the lower envelope of parabolas. */
function transformLine(squares: Float64Array, { start, step, length }: Line): void {
  const values = Float64Array.from({ length }, (_, index) => squares[start + index * step] ?? far);
  const at = (index: number): number => values[index] ?? far;
  const vertices = new Int32Array(length);
  const bounds = new Float64Array(length + 1);
  let count = 0;
  bounds[0] = -far;
  bounds[1] = far;
  const meeting = (one: number, other: number): number =>
    (at(other) + other * other - at(one) - one * one) / (2 * (other - one));
  for (let index = 1; index < length; index += 1) {
    let bound = meeting(vertices[count] ?? 0, index);
    while (count > 0 && bound <= (bounds[count] ?? 0)) {
      count -= 1;
      bound = meeting(vertices[count] ?? 0, index);
    }
    count += 1;
    vertices[count] = index;
    bounds[count] = bound;
    bounds[count + 1] = far;
  }
  let nearest = 0;
  for (let index = 0; index < length; index += 1) {
    while ((bounds[nearest + 1] ?? far) < index) nearest += 1;
    const vertex = vertices[nearest] ?? 0;
    squares[start + index * step] = (index - vertex) ** 2 + at(vertex);
  }
}
