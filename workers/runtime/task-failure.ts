import { KafkaFailure } from '#infra/kafka/kafka-failure.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';

/**
 * Why a try of a task came to nothing. `permanent` lies in the material, `transient` may pass, `outage` is a
 * dependency that is down and no fault of the task, `deadline` is the end of the job's time.
 */
export type TaskFailure = Readonly<{
  class: 'permanent' | 'transient' | 'outage' | 'deadline';
  /** A closed word for machines. */
  code: string;
  /** One sentence for the client. */
  message: string;
  /** For the log and for operators. */
  detail: string | undefined;
}>;

/** What a task makes. */
export type Subject = 'clip' | 'face swap';

/** The job's time is over. */
export const missedDeadline = (subject: Subject = 'clip'): TaskFailure => ({
  class: 'deadline',
  code: 'deadline',
  message: `The ${subject} was not finished before the job's deadline.`,
  detail: undefined,
});

/** What `error`, thrown by a try of a task, means for the task. */
export function classifyFailure(error: unknown, subject: Subject = 'clip'): TaskFailure {
  const message = `The ${subject} could not be made because of an internal error.`;
  if (error instanceof MediaFailure) return mediaFailure(error);
  if (error instanceof StorageFailure) return storageFailure(error, message);
  const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  if (error instanceof KafkaFailure && error.retryable) {
    return { class: 'outage', code: 'kafka_unavailable', message, detail };
  }
  return { class: 'transient', code: 'internal', message, detail };
}

function mediaFailure(error: MediaFailure): TaskFailure {
  return {
    class: error.retryable ? 'transient' : 'permanent',
    code: error.code.toLowerCase(),
    message: error.message,
    detail: error.detail,
  };
}

/**
 * An object that is gone will not come back, but one that is only late may; everything else, wrong
 * credentials included, is the operator's to repair while the paid job waits.
 */
function storageFailure(error: StorageFailure, internalMessage: string): TaskFailure {
  const isGone = error.code === 'NOT_FOUND' || error.code === 'TOO_LARGE';
  return {
    class: isGone ? 'transient' : 'outage',
    code: isGone ? 'intermediates_gone' : 'storage_unavailable',
    message: isGone ? 'The prepared video is no longer there.' : internalMessage,
    detail: error.message,
  };
}
