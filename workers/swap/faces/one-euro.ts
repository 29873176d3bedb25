/**
 * The one-euro filter (Casiez, Roussel, Vogel, CHI 2012) over all points of a mesh: what hardly moves is held
 * still, what moves fast is followed without delay. Speeds are in eye distances a second, so that near and far
 * faces are treated alike.
 */
export class OneEuroMesh {
  readonly #framesPerSecond: number;
  #smooth: Float32Array | undefined;
  #speeds: Float32Array | undefined;

  constructor(framesPerSecond: number) {
    this.#framesPerSecond = framesPerSecond;
  }

  /** The face was lost, or this is another shot: nothing before counts. */
  reset(): void {
    this.#smooth = undefined;
    this.#speeds = undefined;
  }

  /** The next frame's points [n * 3], smoothed. */
  next(points: Float32Array, eyeDistance: number): Float32Array {
    const [smooth, speeds] = [this.#smooth, this.#speeds];
    if (smooth === undefined || speeds === undefined) {
      this.#smooth = points.slice();
      this.#speeds = new Float32Array(points.length);
      return points.slice();
    }
    const rate = this.#framesPerSecond;
    const speedShare = share(speedCutoffHz, rate);
    for (let at = 0; at < points.length; at += 1) {
      const moved = (((points[at] as number) - (smooth[at] as number)) * rate) / Math.max(1, eyeDistance);
      const speed = (speeds[at] as number) + speedShare * (moved - (speeds[at] as number));
      speeds[at] = speed;
      const by = share(leastCutoffHz + cutoffPerSpeed * Math.abs(speed), rate);
      smooth[at] = (smooth[at] as number) + by * ((points[at] as number) - (smooth[at] as number));
    }
    return smooth.slice();
  }
}

const leastCutoffHz = 1.6;
/** Hz more for each eye distance a second. */
const cutoffPerSpeed = 14;
const speedCutoffHz = 3;

function share(cutoffHz: number, rate: number): number {
  const radians = (2 * Math.PI * cutoffHz) / rate;
  return radians / (radians + 1);
}
