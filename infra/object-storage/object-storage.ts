import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { boundedCopy, type CopiedFile } from '../bounded-copy.ts';
import { attachment } from './content-disposition.ts';
import { PartBuffers } from './part-buffers.ts';
import { sendInParts, watchedBody } from './send-in-parts.ts';
import { StorageFailure, storageFailure } from './storage-failure.ts';
import { unlessMissing } from './unless-missing.ts';

/** Where the objects are and who asks for them; the fields of the config with the `S3_` prefix. */
export type ObjectStorageSettings = {
  readonly endpoint?: string | undefined;
  /** The address that clients reach, for presigned URLs; the endpoint's own when absent. */
  readonly publicEndpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Both absent: the AWS SDK's own chain (environment, profile, instance role). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  readonly forcePathStyle: boolean;
};

export type StoredObject = { readonly key: string; readonly bytes: number; readonly modifiedAt: Date };
export type ObjectHead = { readonly bytes: number; readonly contentType: string | undefined };
export type PutOptions = { readonly contentType: string; readonly signal?: AbortSignal | undefined };
export type DownloadLink = {
  readonly key: string;
  readonly expiresInSeconds: number;
  /** The name under which a browser saves it. */
  readonly fileName: string;
};

/** One short request, retries included. */
const callLimitMs = 15_000;
/** A whole transfer: 2 GiB at 2 MB/s takes 18 minutes. */
const transferLimitMs = 20 * 60_000;
const idleLimitMs = 30_000;
const connectLimitMs = 3_000;
const multipartPartBytes = 8 * 1024 * 1024;
const multipartPartsInFlight = 2;

/**
 * The service's objects in one bucket of any S3 server. Every call has a time limit and fails only with
 * `StorageFailure`; writing the same key again replaces the object.
 */
export class ObjectStorage {
  readonly bucket: string;
  readonly #client: S3Client;
  readonly #publicClient: S3Client;
  readonly #partBuffers = new PartBuffers();

  private constructor(settings: ObjectStorageSettings) {
    this.bucket = settings.bucket;
    this.#client = s3Client(settings, settings.endpoint);
    this.#publicClient =
      settings.publicEndpoint === undefined ? this.#client : s3Client(settings, settings.publicEndpoint);
  }

  /** Makes the client; nothing is contacted before the first call. */
  static connect(settings: ObjectStorageSettings): ObjectStorage {
    return new ObjectStorage(settings);
  }

  /** The S3 client itself, for the retention rules beside this port. */
  get client(): S3Client {
    return this.#client;
  }

  /** Creates the bucket where it does not exist yet; several processes may do so at once. */
  async ensureBucket(): Promise<void> {
    await this.#call('ensure bucket', undefined, async (abortSignal) => {
      const there = await this.#client
        .send(new HeadBucketCommand({ Bucket: this.bucket }), { abortSignal })
        .then(
          () => true,
          (error: unknown) => {
            if (storageFailure(error, 'head bucket', false).code === 'NOT_FOUND') return false;
            throw error;
          },
        );
      if (there) return;
      await this.#client
        .send(new CreateBucketCommand({ Bucket: this.bucket }), { abortSignal })
        .catch(ignoreExisting);
    });
  }

  /** Uploads a file, in parts when it is large. */
  async putFile(key: string, path: string, options: PutOptions): Promise<void> {
    await this.putStream(key, createReadStream(path, { highWaterMark: 1024 * 1024 }), options);
  }

  /** Uploads bytes that are in memory already. */
  async putBytes(key: string, body: Uint8Array, options: PutOptions): Promise<void> {
    await this.#upload(key, body, options);
  }

  /**
   * Uploads a stream of unknown length, holding at most a few parts of 8 MiB in memory. When the stream
   * fails or the signal aborts, no object appears and the parts are given up.
   */
  async putStream(key: string, body: Readable, options: PutOptions): Promise<void> {
    try {
      await this.#upload(key, body, options);
    } finally {
      body.destroy();
    }
  }

  /**
   * Uploads what a stranger sends at a stranger's pace, holding one part of 5 MiB in memory. However long the
   * body takes, each request to the storage has a time limit. When the body fails, no object appears.
   */
  async putSlowly(
    key: string,
    body: AsyncIterable<Buffer>,
    { contentType }: Pick<PutOptions, 'contentType'>,
  ): Promise<void> {
    const buffer = this.#partBuffers.take();
    const source = watchedBody(body);
    const target = { Bucket: this.bucket, Key: key };
    let isSent = false;
    try {
      await sendInParts({ client: this.#client, target, contentType, body: source.body, buffer });
      isSent = true;
    } catch (error) {
      throw storageFailure(error, `put ${key}`, false);
    } finally {
      // A request that the storage failed may still read it: then it is left to the garbage collector.
      if (isSent || source.hasFailed()) this.#partBuffers.giveBack(buffer);
    }
  }

  /** Downloads an object into a new file; `maxBytes` guards the disk. */
  async getToFile(
    key: string,
    path: string,
    limits: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<CopiedFile> {
    return this.#call(
      `get ${key}`,
      limits.signal,
      async (abortSignal) => {
        const from = await this.#body(key, abortSignal);
        return boundedCopy({
          from,
          toPath: path,
          maxBytes: limits.maxBytes,
          idleTimeoutMs: idleLimitMs,
          signal: abortSignal,
        });
      },
      transferLimitMs,
    );
  }

  /** A small object's bytes (plans, reports); refuses one over `maxBytes`. */
  async getBytes(key: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer> {
    return this.#call(`get ${key}`, signal, async (abortSignal) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of (await this.#body(key, abortSignal)) as AsyncIterable<Buffer>) {
        bytes += piece.length;
        if (bytes > maxBytes) throw new StorageFailure('TOO_LARGE', `${key} is over ${maxBytes} bytes`);
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    });
  }

  /** The bytes of an object from `start` up to, without, `end`; fewer where it ends before. */
  async getRange(
    key: string,
    { start, end }: { readonly start: number; readonly end: number },
    signal?: AbortSignal,
  ): Promise<Buffer> {
    return this.#call(`get a part of ${key}`, signal, async (abortSignal) => {
      const Range = `bytes=${start}-${end - 1}`;
      const found = await this.#client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key, Range }), {
        abortSignal,
      });
      const bytes = await found.Body?.transformToByteArray();
      if (bytes === undefined) throw new StorageFailure('UNAVAILABLE', `${key} came without a body`);
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    });
  }

  /** Size and type of an object, or undefined where there is none. */
  async head(key: string, signal?: AbortSignal): Promise<ObjectHead | undefined> {
    const found = await unlessMissing(
      this.#call(`head ${key}`, signal, (abortSignal) =>
        this.#client.send(new HeadObjectCommand({ Bucket: this.bucket, Key: key }), { abortSignal }),
      ),
    );
    return found && { bytes: found.ContentLength ?? 0, contentType: found.ContentType };
  }

  /** Deletes an object; one that is not there is fine. */
  async delete(key: string, signal?: AbortSignal): Promise<void> {
    await this.#call(`delete ${key}`, signal, (abortSignal) =>
      this.#client.send(new DeleteObjectCommand({ Bucket: this.bucket, Key: key }), { abortSignal }),
    );
  }

  /** Deletes everything under a prefix and says how many objects that were. */
  async deletePrefix(prefix: string, signal?: AbortSignal): Promise<number> {
    let deleted = 0;
    for await (const object of this.list(prefix, signal)) {
      await this.delete(object.key, signal);
      deleted += 1;
    }
    return deleted;
  }

  /** The objects under a prefix, page by page. */
  async *list(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject> {
    let token: string | undefined;
    do {
      const page: ListObjectsV2CommandOutput = await this.#call(`list ${prefix}`, signal, (abortSignal) =>
        this.#client.send(
          new ListObjectsV2Command({ Bucket: this.bucket, Prefix: prefix, ContinuationToken: token }),
          { abortSignal },
        ),
      );
      for (const entry of page.Contents ?? []) {
        if (entry.Key === undefined) continue;
        yield { key: entry.Key, bytes: entry.Size ?? 0, modifiedAt: entry.LastModified ?? new Date(0) };
      }
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  /** A GET URL that works without credentials until it expires (S3 allows 7 days at most). No request is made. */
  async presignedGet(link: DownloadLink): Promise<string> {
    const command = new GetObjectCommand({
      Bucket: this.bucket,
      Key: link.key,
      ResponseContentDisposition: attachment(link.fileName),
    });
    return getSignedUrl(this.#publicClient, command, { expiresIn: link.expiresInSeconds });
  }

  /** True when the bucket answers: for readiness checks. */
  async reachable(signal?: AbortSignal): Promise<boolean> {
    return this.#call('head bucket', signal, (abortSignal) =>
      this.#client.send(new HeadBucketCommand({ Bucket: this.bucket }), { abortSignal }),
    ).then(
      () => true,
      () => false,
    );
  }

  /** Closes idle connections. */
  close(): void {
    this.#client.destroy();
    this.#publicClient.destroy();
  }

  async #body(key: string, abortSignal: AbortSignal): Promise<Readable> {
    const found = await this.#client.send(new GetObjectCommand({ Bucket: this.bucket, Key: key }), {
      abortSignal,
    });
    if (found.Body === undefined) throw new StorageFailure('UNAVAILABLE', `${key} came without a body`);
    return found.Body as Readable;
  }

  async #upload(key: string, body: Readable | Uint8Array, options: PutOptions): Promise<void> {
    await this.#call(
      `put ${key}`,
      options.signal,
      async (abortSignal) => {
        const upload = new Upload({
          client: this.#client,
          params: { Bucket: this.bucket, Key: key, Body: body, ContentType: options.contentType },
          partSize: multipartPartBytes,
          queueSize: multipartPartsInFlight,
          leavePartsOnError: false,
        });
        const abort = () => void upload.abort();
        abortSignal.addEventListener('abort', abort, { once: true });
        try {
          abortSignal.throwIfAborted();
          await upload.done();
        } finally {
          abortSignal.removeEventListener('abort', abort);
        }
      },
      transferLimitMs,
    );
  }

  async #call<T>(
    doing: string,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
    limitMs = callLimitMs,
  ): Promise<T> {
    const limit = AbortSignal.timeout(limitMs);
    try {
      return await work(signal === undefined ? limit : AbortSignal.any([limit, signal]));
    } catch (error) {
      throw storageFailure(error, doing, signal?.aborted ?? false);
    }
  }
}

function s3Client(settings: ObjectStorageSettings, endpoint: string | undefined): S3Client {
  const { accessKeyId, secretAccessKey } = settings;
  return new S3Client({
    region: settings.region,
    forcePathStyle: settings.forcePathStyle,
    // The SDK's newer default adds CRC trailers to every upload, which S3Proxy and older servers refuse.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: connectLimitMs,
      socketTimeout: idleLimitMs,
      httpAgent: { maxSockets: 64, keepAlive: true },
      httpsAgent: { maxSockets: 64, keepAlive: true },
    },
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  });
}

function ignoreExisting(error: unknown): void {
  const name = error instanceof Error ? error.name : '';
  if (name !== 'BucketAlreadyOwnedByYou' && name !== 'BucketAlreadyExists') throw error;
}
