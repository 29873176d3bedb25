import { createHash, type Hash } from 'node:crypto';
import type { MultipartFile } from '@fastify/multipart';
import { SNIFFED_BYTES, sniff } from '#infra/media/sniff.ts';
import type { ObjectStorage } from '#infra/object-storage/object-storage.ts';
import { answers } from '../answers.ts';
import { fieldError } from '../field-rules.ts';
import { RefusedBody } from '../refused-body.ts';
import { fileNameOf } from './file-name.ts';
import type { FileRule, UploadedFile } from './received-form.ts';

export type FileToStore = Readonly<{
  part: MultipartFile;
  rule: FileRule;
  objectKey: string;
  storage: Pick<ObjectStorage, 'putSlowly'>;
  signal: AbortSignal;
}>;

/**
 * Streams a file part to object storage while it is hashed. Throws `RefusedBody` for a type or a size that
 * the rule does not take, the type before anything is stored; then no object is left.
 */
export async function storeFile(file: FileToStore): Promise<UploadedFile> {
  const { part, rule, objectKey, signal } = file;
  const abandon = () => part.file.destroy(signal.reason);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    signal.throwIfAborted();
    const pieces = piecesUpTo(rule.maxBytes, part);
    const head = await headOf(pieces);
    if (head.length === 0) throw emptyFile(part.fieldname);
    const type = sniff(head);
    if (!rule.contentTypes.includes(type.contentType))
      throw new RefusedBody(answers.wrongFileType(part.fieldname, rule.what));
    const { sha256, byteCount } = await sendHashed(file, type.contentType, head, pieces);
    const fileName = fileNameOf(part.filename);
    return { field: part.fieldname, objectKey, fileName, sha256, byteCount, type };
  } finally {
    signal.removeEventListener('abort', abandon);
    part.file.destroy();
  }
}

const emptyFile = (field: string): RefusedBody =>
  new RefusedBody(answers.invalid([fieldError([field], 'is an empty file; send one with content')]));

type Pieces = AsyncGenerator<Buffer, void, undefined>;

async function* piecesUpTo(maxBytes: number, { file, fieldname }: MultipartFile): Pieces {
  let bytes = 0;
  for await (const piece of file as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new RefusedBody(answers.fileTooLarge(fieldname, maxBytes));
    yield piece;
  }
}

/** Enough bytes to tell the type by, or all that there are. */
async function headOf(pieces: Pieces): Promise<Buffer> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < SNIFFED_BYTES; ) {
    const next = await pieces.next();
    if (next.done === true) break;
    head.push(next.value);
    bytes += next.value.length;
  }
  return Buffer.concat(head);
}

async function sendHashed(
  { storage, objectKey }: FileToStore,
  contentType: string,
  head: Buffer,
  pieces: Pieces,
): Promise<{ sha256: string; byteCount: number }> {
  const hashed = { hash: createHash('sha256'), byteCount: 0 };
  let failure: unknown;
  const body = (async function* () {
    try {
      yield hashedPiece(hashed, head);
      for await (const piece of pieces) yield hashedPiece(hashed, piece);
    } catch (error) {
      failure = error;
      throw error;
    }
  })();
  // Why the body ended too early is the answer, not that storage did not get the rest of it.
  await storage.putSlowly(objectKey, body, { contentType }).catch((error: unknown) => {
    throw failure ?? error;
  });
  return { sha256: hashed.hash.digest('hex'), byteCount: hashed.byteCount };
}

function hashedPiece(hashed: { hash: Hash; byteCount: number }, piece: Buffer): Buffer {
  hashed.hash.update(piece);
  hashed.byteCount += piece.length;
  return piece;
}
