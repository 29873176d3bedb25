import { parentPort, workerData } from 'node:worker_threads';
import { type FaceDrawing, type RenderMesh, renderFace } from './render-face.ts';

/** What all drawings of a job have in common: sent once, in shared memory. */
export type RenderSetting = {
  readonly mesh: RenderMesh;
  readonly levels: FaceDrawing['levels'];
};

/** What the thread is sent for each frame. */
export type RenderOrder = {
  readonly id: number;
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly drawing: Omit<FaceDrawing, 'levels'>;
};

export type RenderAnswer = { readonly id: number; readonly data: Uint8Array; readonly ms: number };

/** The worker thread that draws faces: one frame at a time, for as long as its pool lives. */
const port = parentPort;
if (port !== null) {
  const { mesh, levels } = workerData as RenderSetting;
  port.on('message', ({ id, data, width, height, drawing }: RenderOrder) => {
    const begun = performance.now();
    renderFace({ data, width, height }, { ...drawing, levels }, mesh);
    const answer: RenderAnswer = { id, data, ms: performance.now() - begun };
    port.postMessage(answer, [data.buffer as ArrayBuffer]);
  });
}
