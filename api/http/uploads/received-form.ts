import type { MediaType } from '#infra/media/sniff.ts';
import type { Answer } from '../answers.ts';

/** What a `multipart/form-data` request may hold, and what came of it. */

/** A file of a form, stored and looked at on the way. */
export type UploadedFile = Readonly<{
  field: string;
  /** `uploads/<job_id>/<field>`. */
  objectKey: string;
  /** As the client calls it, without folders; null when it did not say. */
  fileName: string | null;
  /** In hex. */
  sha256: string;
  byteCount: number;
  /** Judged by content. */
  type: MediaType;
}>;

export type ReceivedForm = Readonly<{
  fields: ReadonlyMap<string, string>;
  files: ReadonlyMap<string, UploadedFile>;
}>;

/** What a file field takes. */
export type FileRule = Readonly<{
  maxBytes: number;
  kind: 'video' | 'audio' | 'image';
  /** The content types, as `sniff` names them, that are taken. */
  contentTypes: readonly string[];
  /** The same for people: `mp4, mov, avi, mkv or webm`. */
  what: string;
}>;

export type FormRules = Readonly<{
  files: Readonly<Record<string, FileRule>>;
  /** All other fields are refused. */
  fields: readonly string[];
  /** Objects go to `uploads/<jobId>/<field>`. */
  jobId: string;
  /**
   * Asked whenever a file begins, with what came before it: an answer refuses the form before the file is
   * read. Only for what no later part can make good.
   */
  refuseEarly?: (fields: ReadonlyMap<string, string>, fileFields: readonly string[]) => Answer | undefined;
}>;

export type FormReceipt =
  | Readonly<{
      form: ReceivedForm;
      /** Deletes the form's objects. Never rejects: what cannot be deleted now is left to the retention. */
      discard: () => Promise<void>;
    }>
  | Readonly<{ refused: Answer }>;
