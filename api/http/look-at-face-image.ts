import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { runSwapProgram } from '#infra/media/run-swap-program.ts';
import { sniff } from '#infra/media/sniff.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { peekRemoteFile } from '#infra/sources/peek-remote-file.ts';
import { type Answer, answers } from './answers.ts';
import { faceImageFormats, isFaceImageType, type SwapSource } from './face-swap-request.ts';
import type { HttpService } from './http-service.ts';
import { refusedSource } from './source-refusal.ts';
import type { UploadedFile } from './uploads/received-form.ts';

export type FaceImageService = Pick<HttpService, 'config' | 'log' | 'sources' | 'storage' | 'examinations'>;

/** On whose behalf, and where files may lie meanwhile. */
type Look = Readonly<{ teamId: number; folder: string; signal: AbortSignal }>;

const PEEK_LIMIT_MS = 15_000;
/** Of an upload out of object storage, which is near. */
const FETCH_LIMIT_MS = 20_000;
/** A camera's JPEG at its best is under half of it; a larger file is left to the worker. */
const EXAMINED_BYTES = 64 * 1024 ** 2;
/** About a second of work on an idle machine; an image of 100 megapixels takes 300 MB while it is read. */
const EXAMINATION_LIMITS = { wallMs: 30_000, memoryBytes: 1.5 * 1024 ** 3, reportBytes: 64 * 1024 };

/** The program that the workers examine face images with: so both come to the same answer. */
const swapProgram = fileURLToPath(new URL('../../workers/swap/child/swap-child-main.ts', import.meta.url));

/**
 * What is wrong with a face image, as far as it shows before the job: an upload is looked at for a face that can
 * be used; of an image at a URL only its first bytes, whether it is one.
 */
export function lookAtFaceImage(
  faceImage: SwapSource,
  look: Look,
  service: FaceImageService,
): Promise<Answer | undefined> {
  return 'file' in faceImage
    ? examineUpload(faceImage.file, look, service)
    : peekAtUrl(faceImage.url, look, service);
}

/** Few at a time, for their memory; when its turn does not come in time, the worker is the first to look. */
async function examineUpload(
  file: UploadedFile,
  look: Look,
  service: FaceImageService,
): Promise<Answer | undefined> {
  const { config, log, examinations } = service;
  if (file.byteCount > EXAMINED_BYTES) return undefined;
  const patience = AbortSignal.any([look.signal, AbortSignal.timeout(config.PROBE_TIME_LIMIT)]);
  try {
    const isExamined = await examinations.take(look.teamId, patience, async () => {
      await examine(file, look, service);
      return true;
    });
    if (look.signal.aborted) return answers.stopping;
    if (isExamined === undefined) log.warn('Too many face images wait: one is left to its worker.');
    return undefined;
  } catch (error) {
    return look.signal.aborted ? answers.stopping : refusedUpload(error, service);
  }
}

/** Throws `StorageFailure`, and `MediaFailure` whose message says what photo would do. */
async function examine(
  file: UploadedFile,
  { folder, signal }: Look,
  { config, sources, storage }: FaceImageService,
): Promise<void> {
  const imagePath = join(folder, 'face-image');
  const limit = AbortSignal.any([signal, AbortSignal.timeout(FETCH_LIMIT_MS)]);
  await storage.getToFile(file.objectKey, imagePath, { maxBytes: EXAMINED_BYTES, signal: limit });
  await runSwapProgram({
    program: swapProgram,
    order: { kind: 'examine', imagePath },
    tools: sources.tools,
    modelsFolder: config.MODELS_DIR,
    folder,
    signal,
    limits: EXAMINATION_LIMITS,
  });
}

/** A fault of the image refuses the order. With one of ours nothing is known of the image: the worker will see. */
function refusedUpload(error: unknown, { log }: FaceImageService): Answer | undefined {
  if (error instanceof StorageFailure) return refusedSource(error, 'face_image', log);
  if (!(error instanceof MediaFailure)) throw error;
  switch (error.code) {
    case 'FACE_NOT_USABLE':
    case 'NOT_AN_IMAGE':
      return answers.invalid([{ path: 'face_image', message: error.message }]);
    default:
      log.warn({ err: error }, 'A face image could not be examined: it is left to its worker.');
      return undefined;
  }
}

async function peekAtUrl(
  url: string,
  { signal }: Look,
  { config, sources, log }: FaceImageService,
): Promise<Answer | undefined> {
  try {
    const head = await peekRemoteFile({
      url,
      what: 'face image',
      allow: sources.allow,
      maxBytes: config.FACE_SWAP_MAX_BYTES,
      timeoutMs: PEEK_LIMIT_MS,
      signal,
    });
    if (isFaceImageType(sniff(head).contentType)) return undefined;
    return answers.unusableSource(
      `The face image is not an image of type ${faceImageFormats}, judged by its content.`,
    );
  } catch (error) {
    return refusedSource(error, 'face_image_url', log);
  }
}
