import { type FaceZones, smoothStep } from './face-zones.ts';
import { blurField } from './smooth-field.ts';

/**
 * What covers a face from outside: hair over the forehead, a hand, a microphone. Such things reach in over the
 * face's rim, unlike moles, folds and brows; so only what is unlike skin and joined to the rim counts. The answer
 * is soft, a little wider than what was found, 0 to 1 for each texel. Pure.
 */
export function reachedFromRim(
  unlike: Float32Array,
  zones: FaceZones,
  size: number,
  threshold: number,
): Float32Array {
  const reached = new Float32Array(unlike.length);
  const waiting: number[] = [];
  const visit = (texel: number): void => {
    if (zones.face[texel] !== 1 || reached[texel] === 1) return;
    if ((unlike[texel] as number) < threshold || (zones.features[texel] as number) > 0.5) return;
    reached[texel] = 1;
    waiting.push(texel);
  };
  for (let texel = 0; texel < unlike.length; texel += 1) {
    if ((zones.depth[texel] as number) > 0 && (zones.depth[texel] as number) < rimDepth) visit(texel);
  }
  for (let texel = waiting.pop(); texel !== undefined; texel = waiting.pop()) {
    for (const next of [texel - 1, texel + 1, texel - size, texel + size]) visit(next);
  }
  return blurField(reached, size, Math.max(1, Math.round(size * edge))).map((share) =>
    smoothStep(share, 0.08, 0.6),
  );
}

const rimDepth = 0.03;
/** How soft the edge is, in parts of the flattened face. */
const edge = 0.022;
