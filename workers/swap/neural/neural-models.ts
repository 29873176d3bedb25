/**
 * The operator's files in MODELS_DIR, by the names that its manifest lists them under. They follow InsightFace's
 * contracts; none of them comes with this program.
 */
export const neuralModelFiles = {
  /** SCRFD with key points. */
  detector: 'swap_detector.onnx',
  /** ArcFace, 512 values. */
  embedder: 'swap_embedder.onnx',
  /** inswapper, 128 pixels. */
  swapper: 'swap_swapper.onnx',
  /** Optional: a face restorer of GFPGAN's contract, 512 pixels. */
  enhancer: 'swap_enhancer.onnx',
  required: ['swap_detector.onnx', 'swap_embedder.onnx', 'swap_swapper.onnx'],
} as const;
