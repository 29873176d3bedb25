import { MediaFailure } from '../media/media-failure.ts';
import type { MediaTools } from '../media/media-tools.ts';
import type { MediaType } from '../media/sniff.ts';
import { inputVideoDuration } from '../media/video-duration.ts';
import type { ObjectStorage } from '../object-storage/object-storage.ts';
import { type RangedFile, withRangeServer } from './range-server.ts';

/** A video that lies in object storage. */
export type StoredVideo = {
  readonly objectKey: string;
  readonly byteCount: number;
  /** Judged by content when it was stored. */
  readonly type: MediaType;
};

export type StoredDurationProbe = {
  readonly video: StoredVideo;
  readonly storage: Pick<ObjectStorage, 'getRange'>;
  readonly tools: MediaTools;
  /** An existing folder for this probe alone; the caller removes it afterwards. */
  readonly folder: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** Fewer and larger reads of a storage that is near; one at a time is in memory. */
const pieceBytes = 1024 * 1024;

/**
 * How long a stored video plays, in milliseconds, read by ranges: as a rule its headers and its end. Throws
 * `MediaFailure`, or `StorageFailure` when the storage cannot be read.
 */
export async function probeStoredDuration(probe: StoredDurationProbe): Promise<number> {
  const limit = AbortSignal.timeout(probe.timeoutMs);
  const signal = AbortSignal.any([limit, probe.signal]);
  const context = { tools: probe.tools, taskFolder: probe.folder, signal };
  try {
    return await withRangeServer(storedFile(probe, signal), (url) =>
      inputVideoDuration({ url, protocols: 'http,tcp', type: probe.video.type }, context),
    );
  } catch (error) {
    if (!limit.aborted || probe.signal.aborted) throw error;
    const seconds = Math.round(probe.timeoutMs / 1000);
    throw new MediaFailure('TIME_LIMIT', `Finding out the video's length took longer than ${seconds} s.`, {
      cause: error,
    });
  }
}

function storedFile({ video, storage }: StoredDurationProbe, signal: AbortSignal): RangedFile {
  const { objectKey, byteCount: size } = video;
  return {
    size,
    read: (start) => {
      const end = Math.min(size, start + pieceBytes);
      return start >= end
        ? Promise.resolve(Buffer.alloc(0))
        : storage.getRange(objectKey, { start, end }, signal);
    },
  };
}
