import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

export type SendInParts = Readonly<{
  client: S3Client;
  target: Readonly<{ Bucket: string; Key: string }>;
  contentType: string;
  body: AsyncIterable<Buffer>;
  /** The one part that is in memory. */
  buffer: Buffer;
}>;

/** One part, tries included: 5 MiB at 200 kB/s. */
const REQUEST_LIMIT_MS = 30_000;
/** A client waits for its answer meanwhile. */
const GIVE_UP_LIMIT_MS = 5_000;

const within = (limitMs: number) => ({ abortSignal: AbortSignal.timeout(limitMs) });

/**
 * Sends a body of unknown length, part after part out of one buffer: what lib-storage holds at once is three
 * times as much. A request under way is never cut short because the body failed, as a part that arrives after the
 * upload was given up would stay. A body that fits the buffer is one request. Rejects with what the body or the storage
 * failed with; then no object is there, and the parts are given up as far as storage answers.
 */
export async function sendInParts(sending: SendInParts): Promise<void> {
  const { client, target, body, buffer } = sending;
  let upload: Upload | undefined;
  let filled = 0;
  try {
    for await (const piece of body) {
      for (let taken = 0; taken < piece.length; ) {
        if (filled === buffer.length) {
          upload ??= await beginUpload(sending);
          await sendPart(sending, upload, filled);
          filled = 0;
        }
        const copied = piece.copy(buffer, filled, taken);
        filled += copied;
        taken += copied;
      }
    }
    if (upload === undefined) {
      const only = { ...target, ContentType: sending.contentType, Body: buffer.subarray(0, filled) };
      await client.send(new PutObjectCommand(only), within(REQUEST_LIMIT_MS));
      return;
    }
    await sendPart(sending, upload, filled);
    await finishUpload(sending, upload);
  } catch (error) {
    if (upload !== undefined) await giveUp(sending, upload);
    throw error;
  }
}

type Upload = { readonly id: string; readonly parts: CompletedPart[] };

async function beginUpload({ client, target, contentType }: SendInParts): Promise<Upload> {
  const command = new CreateMultipartUploadCommand({ ...target, ContentType: contentType });
  const { UploadId: id } = await client.send(command, within(REQUEST_LIMIT_MS));
  if (id === undefined) throw new Error('Object storage began an upload without an id.');
  return { id, parts: [] };
}

async function sendPart(
  { client, target, buffer }: SendInParts,
  { id, parts }: Upload,
  bytes: number,
): Promise<void> {
  const PartNumber = parts.length + 1;
  const Body = buffer.subarray(0, bytes);
  const command = new UploadPartCommand({ ...target, UploadId: id, PartNumber, Body });
  const { ETag } = await client.send(command, within(REQUEST_LIMIT_MS));
  parts.push({ ETag, PartNumber });
}

async function finishUpload({ client, target }: SendInParts, { id, parts }: Upload): Promise<void> {
  const MultipartUpload = { Parts: parts };
  const command = new CompleteMultipartUploadCommand({ ...target, UploadId: id, MultipartUpload });
  await client.send(command, within(REQUEST_LIMIT_MS));
}

/** What stays because storage does not answer goes by the retention. */
async function giveUp({ client, target }: SendInParts, { id }: Upload): Promise<void> {
  const command = new AbortMultipartUploadCommand({ ...target, UploadId: id });
  await client.send(command, within(GIVE_UP_LIMIT_MS)).catch(() => undefined);
}

/** A body that tells whether it was the one that failed; nothing is being sent when it is asked for more. */
export function watchedBody(body: AsyncIterable<Buffer>): {
  readonly body: AsyncIterable<Buffer>;
  readonly hasFailed: () => boolean;
} {
  let hasFailed = false;
  const watched = async function* () {
    try {
      yield* body;
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  return { body: watched(), hasFailed: () => hasFailed };
}
