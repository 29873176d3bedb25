import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyRequest } from 'fastify';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { uploadKey } from '#infra/object-storage/upload-keys.ts';
import { type Answer, answers } from '../answers.ts';
import { fieldError } from '../field-rules.ts';
import type { HttpService } from '../http-service.ts';
import { RefusedBody } from '../refused-body.ts';
import { liftDeadline } from '../request-deadline.ts';
import { Arrival } from './arrival.ts';
import { boundaryOf } from './boundary.ts';
import { DelimiterCounter } from './delimiter-counter.ts';
import type { FormReceipt, FormRules, ReceivedForm, UploadedFile } from './received-form.ts';
import { storeFile } from './store-file.ts';

/** Some 20,000 characters, four bytes each at most, is what the longest text field takes. */
const FIELD_MAX_BYTES = 64 * 1024;
const PART_HEADER_MAX_BYTES = 8 * 1024;
const PART_HEADERS = 20;
const DISCARD_LIMIT_MS = 5_000;

type Receiving = Readonly<{
  rules: FormRules;
  service: HttpService;
  arrival: Arrival;
  fields: Map<string, string>;
  files: Map<string, UploadedFile>;
  /** Of all files that were begun: what came of the last one may be unknown. */
  objectKeys: string[];
}>;

/**
 * Reads a `multipart/form-data` body: each file streams to object storage while it is hashed and sniffed.
 * When the form is refused, nothing of it is left; afterwards `discard()` is the caller's to call.
 */
export async function receiveForm(
  request: FastifyRequest,
  rules: FormRules,
  teamId: number,
  service: HttpService,
): Promise<FormReceipt> {
  const maxBytes = largestForm(rules);
  const boundary = boundaryOf(request.headers['content-type']);
  if (boundary === undefined)
    return { refused: answers.brokenRequest('The Content-Type names no readable boundary.') };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes)
    return { refused: answers.bodyTooLarge(maxBytes) };
  const leave = service.uploads.enter(teamId);
  if (leave === undefined) return { refused: answers.tooManyUploads };
  liftDeadline(request.raw);
  const { UPLOAD_IDLE_LIMIT: idleMs, UPLOAD_TIME_LIMIT: totalMs } = service.config;
  const arrival = new Arrival(
    request.raw,
    new DelimiterCounter(boundary),
    { maxBytes, idleMs, totalMs },
    service.uploads.stopped,
  );
  const receiving = { rules, service, arrival, fields: new Map(), files: new Map(), objectKeys: [] };
  try {
    const form = await readForm(request, receiving);
    return { form, discard: () => discard(receiving) };
  } catch (error) {
    await discard(receiving);
    return { refused: answerTo(arrival.signal.aborted ? arrival.signal.reason : error, request) };
  } finally {
    arrival.end();
    request.raw.unpipe();
    leave();
  }
}

const largestForm = ({ files, fields }: FormRules): number => {
  const parts = Object.keys(files).length + fields.length;
  const fileBytes = Object.values(files).reduce((sum, { maxBytes }) => sum + maxBytes, 0);
  return fileBytes + fields.length * FIELD_MAX_BYTES + (parts + 1) * PART_HEADER_MAX_BYTES;
};

async function readForm(request: FastifyRequest, receiving: Receiving): Promise<ReceivedForm> {
  const { rules, arrival, fields, files } = receiving;
  const parts = request.parts({
    limits: {
      fieldSize: FIELD_MAX_BYTES,
      fileSize: Number.POSITIVE_INFINITY,
      parts: Object.keys(rules.files).length + rules.fields.length + 1,
      headerPairs: PART_HEADERS,
      // Busboy's types lack it.
      ...{ headerSize: PART_HEADER_MAX_BYTES },
    },
    isPartAFile: (field, contentType, fileName) =>
      fileName !== undefined ||
      contentType === 'application/octet-stream' ||
      (field !== undefined && Object.hasOwn(rules.files, field)),
  });
  const failure = arrival.failure();
  for (let partCount = 0; ; partCount += 1) {
    const next = await Promise.race([parts.next(), failure]);
    if (next.done === true) {
      refuseUnlessWhole(arrival.delimiters, partCount);
      return { fields, files };
    }
    await takePart(next.value, receiving);
  }
}

function refuseUnlessWhole({ isClosed, partCount }: DelimiterCounter, seenParts: number): void {
  if (!isClosed)
    throw new RefusedBody(answers.brokenRequest('The multipart body ended before its last boundary.'));
  if (partCount === seenParts) return;
  const because =
    'A part of the form cannot be read: each needs a Content-Disposition: form-data header with a name, and small headers.';
  throw new RefusedBody(answers.brokenRequest(because));
}

async function takePart(part: Multipart, receiving: Receiving): Promise<void> {
  const { rules, fields, files } = receiving;
  const name: string | undefined = part.fieldname;
  if (name === undefined) throw new RefusedBody(answers.brokenRequest('A part of the form has no name.'));
  const isKnown = Object.hasOwn(rules.files, name) || rules.fields.includes(name);
  if (!isKnown) throw refusedField(name, `is not known; the fields here are ${knownNames(rules)}`);
  if (fields.has(name) || files.has(name)) throw refusedField(name, 'is there more than once; send it once');
  if (part.type === 'field') fields.set(name, textOf(part));
  else files.set(name, await takeFile(part, receiving));
}

const refusedField = (name: string, rule: string): RefusedBody =>
  new RefusedBody(answers.invalid([fieldError([name], rule)]));

const knownNames = ({ files, fields }: FormRules): string => [...Object.keys(files), ...fields].join(', ');

function textOf({ fieldname, value, valueTruncated }: Extract<Multipart, { type: 'field' }>): string {
  if (valueTruncated) throw refusedField(fieldname, `must be at most ${FIELD_MAX_BYTES} bytes`);
  if (typeof value !== 'string')
    throw refusedField(fieldname, 'must be text without a content type of its own');
  return value;
}

async function takeFile(part: MultipartFile, receiving: Receiving): Promise<UploadedFile> {
  const { rules, service, arrival, fields, files, objectKeys } = receiving;
  const { fieldname: name } = part;
  const rule = rules.files[name];
  if (rule === undefined) throw refusedField(name, 'must be text, not a file');
  const early = rules.refuseEarly?.(fields, [...files.keys(), name]);
  if (early !== undefined) throw new RefusedBody(early);
  const objectKey = uploadKey(rules.jobId, name);
  objectKeys.push(objectKey);
  return storeFile({ part, rule, objectKey, storage: service.storage, signal: arrival.signal });
}

async function discard({ service, objectKeys }: Receiving): Promise<void> {
  const signal = AbortSignal.timeout(DISCARD_LIMIT_MS);
  const deletions = objectKeys.map((key) => service.storage.delete(key, signal));
  for (const outcome of await Promise.allSettled(deletions)) {
    if (outcome.status === 'rejected')
      service.log.warn({ err: outcome.reason }, 'An upload stays until the retention deletes it.');
  }
}

/** Whatever else the parser says, it says of what the client sent. */
function answerTo(error: unknown, request: FastifyRequest): Answer {
  if (error instanceof RefusedBody) return error.answer;
  if (error instanceof StorageFailure) {
    request.log.warn({ err: error, requestId: request.id }, 'Object storage did not take an upload.');
    return answers.unavailable;
  }
  request.log.info({ err: error, requestId: request.id }, 'A form could not be read.');
  return answers.brokenRequest('The multipart body is broken: its parts and boundaries cannot be read.');
}
