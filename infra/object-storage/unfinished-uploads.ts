import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
} from '@aws-sdk/client-s3';
import type { ObjectStorage } from './object-storage.ts';

/** A multipart upload that nobody has finished; its parts are no objects, so no list of objects shows them. */
export type UnfinishedUpload = Readonly<{ key: string; uploadId: string; begunAt: Date | undefined }>;

const callLimitMs = 15_000;

/** All of the bucket's; after crashes in the middle of an upload some stay. */
export async function unfinishedUploads(
  storage: ObjectStorage,
  signal?: AbortSignal,
): Promise<readonly UnfinishedUpload[]> {
  const found: UnfinishedUpload[] = [];
  let page: ListMultipartUploadsCommandOutput | undefined;
  do {
    const after: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {
      KeyMarker: page?.NextKeyMarker,
      UploadIdMarker: page?.NextUploadIdMarker,
    };
    page = await storage.client.send(
      new ListMultipartUploadsCommand({ Bucket: storage.bucket, ...after }),
      limited(signal),
    );
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined) continue;
      found.push({ key: Key, uploadId: UploadId, begunAt: Initiated });
    }
  } while (page.IsTruncated === true);
  return found;
}

/** Deletes its parts; nothing can be added to it any more. */
export async function abandonUpload(
  storage: ObjectStorage,
  { key, uploadId }: UnfinishedUpload,
  signal?: AbortSignal,
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: storage.bucket, Key: key, UploadId: uploadId });
  await storage.client.send(command, limited(signal));
}

function limited(signal: AbortSignal | undefined): { abortSignal: AbortSignal } {
  const limit = AbortSignal.timeout(callLimitMs);
  return { abortSignal: signal === undefined ? limit : AbortSignal.any([limit, signal]) };
}
