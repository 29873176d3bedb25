import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FaceMesh } from '#workers/media/faces/face-mesh.ts';
import { regionOfMesh } from '#workers/media/faces/mesh-region.ts';
import type { RgbFrame } from '#workers/media/faces/rgb-frame.ts';
import { drawRegion } from '#workers/media/faces/square-region.ts';

/** Makes a face's descriptor: pictures of one person are near each other. */
export type FaceEmbedder = (frame: RgbFrame, mesh: FaceMesh) => Promise<Float32Array>;

const inputSize = 150;
/** The mesh's region has a quarter of the face around it; the embedder was trained on tighter faces. */
const faceShare = 0.86;

/** What of face-api is used. */
type FaceApi = {
  readonly tf: {
    setBackend(name: string): Promise<boolean>;
    ready(): Promise<void>;
    tensor4d(values: Float32Array, shape: readonly number[]): { dispose(): void };
    readonly io: { decodeWeights(bytes: ArrayBuffer, weights: unknown): object };
  };
  readonly nets: {
    readonly faceRecognitionNet: {
      loadFromWeightMap(weights: object): void;
      computeFaceDescriptor(input: object): Promise<Float32Array>;
    };
  };
};

/**
 * The face recognition network of @vladmandic/face-api (a ResNet of dlib's, 128 values), which no engine here uses.
 * It runs in plain JavaScript: some seconds a face.
 */
export async function openEmbedder(): Promise<FaceEmbedder> {
  const folder = dirname(createRequire(import.meta.url).resolve('@vladmandic/face-api/package.json'));
  // The bundle for browsers holds all of TensorFlow.js; it wants to see one before it loads.
  const world = globalThis as { window?: unknown; document?: unknown };
  world.window ??= globalThis;
  world.document ??= { createElement: () => ({ getContext: () => null }) };
  const api = (await import(join(folder, 'dist/face-api.esm.js'))) as FaceApi;
  await api.tf.setBackend('cpu');
  await api.tf.ready();
  const [manifest] = JSON.parse(
    await readFile(join(folder, 'model/face_recognition_model-weights_manifest.json'), 'utf8'),
  ) as [{ weights: unknown }];
  const bytes = await readFile(join(folder, 'model/face_recognition_model.bin'));
  const network = api.nets.faceRecognitionNet;
  network.loadFromWeightMap(api.tf.io.decodeWeights(Uint8Array.from(bytes).buffer, manifest.weights));
  return async (frame, mesh) => {
    const region = regionOfMesh(mesh);
    const pixels = new Float32Array(inputSize ** 2 * 3);
    drawRegion(
      frame,
      { ...region, side: region.side * faceShare },
      inputSize,
      { scale: 1, offset: 0 },
      pixels,
    );
    const input = api.tf.tensor4d(pixels, [1, inputSize, inputSize, 3]);
    try {
      return await network.computeFaceDescriptor(input);
    } finally {
      input.dispose();
    }
  };
}

/** The cosine between two descriptors. Pure. */
export function cosine(a: Float32Array, b: Float32Array): number {
  const product = a.reduce((sum, value, at) => sum + value * (b[at] as number), 0);
  return product / (Math.hypot(...a) * Math.hypot(...b));
}
