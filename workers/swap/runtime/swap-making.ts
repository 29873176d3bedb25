import type { Config } from '#infra/config.ts';
import { videoDuration } from '#infra/media/video-duration.ts';
import type { SourceAccess } from '#infra/sources/source-access.ts';
import { examineFaceImage } from '../examine-face-image.ts';
import { scanFaces } from '../scan-faces.ts';
import { stitch } from '../stitch.ts';
import { swapSegment } from '../swap-segment.ts';
import { swapWhole } from '../swap-whole.ts';
import { fetchFaceImage } from './fetch-face-image.ts';
import type { SwapMaking } from './swap-parts.ts';

/** How this worker makes face swaps, as the settings say. */
export const swapMaking = (config: Config, sources: SourceAccess): SwapMaking => ({
  pipeline: {
    fetchFaceImage: (input, context) => fetchFaceImage(input, context, sources.allow),
    videoDuration,
    examineFaceImage,
    scanFaces,
    swapWhole,
    swapSegment,
    stitch,
  },
  settings: {
    engine: config.SWAP_ENGINE,
    label: config.SWAP_LABEL ?? null,
    isLicenceAcknowledged: config.SWAP_MODELS_LICENCE_ACKNOWLEDGED,
  },
  limits: { maxBytes: config.FACE_SWAP_MAX_BYTES, maxDurationMs: config.FACE_SWAP_MAX_DURATION },
});
