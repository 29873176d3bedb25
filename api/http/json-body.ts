import type { FastifyInstance } from 'fastify';
import { type Answer, answers } from './answers.ts';
import { findDuplicateField } from './duplicate-field.ts';
import { fieldError } from './field-rules.ts';

export const JSON_BODY_LIMIT_BYTES = 256 * 1024;

/** A body that cannot be read, with the answer that says why. */
export class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(String(answer.body['error']));
    this.answer = answer;
  }
}

/** Takes JSON in UTF-8 and nothing like it; an empty body counts as none, whatever type it says it has. */
export function acceptJson(v1: FastifyInstance): void {
  const parseJson = v1.getDefaultJsonParser('error', 'error');
  v1.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(request.headers['content-type'])) return done(new UnreadableBody(answers.otherCharset));
    const text = decodeUtf8(bytes);
    if (text === undefined) return done(new UnreadableBody(answers.brokenUtf8));
    return parseJson(request, text, (error, value) => {
      const duplicate = error === null ? findDuplicateField(text) : undefined;
      if (duplicate === undefined) return done(error, value);
      const twice = fieldError(duplicate.split('.'), 'is there more than once; send it once');
      return done(new UnreadableBody(answers.invalid([twice])));
    });
  });
}

const isUtf8 = (contentType: string | undefined): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType ?? '')?.[1];
  return charset === undefined || /^utf-?8$/i.test(charset);
};

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
