import { z } from 'zod';
import type { ModelStore } from '../../models/model-store.ts';
import { meshPointCount } from './face-points.ts';

const valuesPerVertex = 5;

const storedMesh = z.object({
  vertices: z.array(z.number()).length(meshPointCount * valuesPerVertex),
  triangles: z.array(
    z
      .int()
      .min(0)
      .max(meshPointCount - 1),
  ),
});

/** The neutral face that all meshes are deformations of. */
export type CanonicalMesh = {
  /** x, y, z of each of the 468 points, in centimetres: x to the right as seen, y up, z towards the viewer. */
  readonly positions: Float32Array;
  /** u, v of each point in a flattened picture of the face, 0 to 1. */
  readonly textureCoordinates: Float32Array;
  /** Three point numbers for each of the 898 triangles. */
  readonly triangles: Uint16Array;
};

/** Reads the neutral face. Throws `ModelUnusable`. */
export async function readCanonicalMesh(models: ModelStore): Promise<CanonicalMesh> {
  const bytes = await models.read('canonical_face_mesh.json');
  const { vertices, triangles } = storedMesh.parse(JSON.parse(bytes.toString('utf8')));
  const part = (from: number, to: number): Float32Array =>
    Float32Array.from(
      vertices.filter((_, index) => index % valuesPerVertex >= from && index % valuesPerVertex < to),
    );
  return { positions: part(0, 3), textureCoordinates: part(3, 5), triangles: Uint16Array.from(triangles) };
}
