import type { FastifyInstance } from 'fastify';
import { answers } from './answers.ts';
import { fieldError } from './field-rules.ts';
import { RefusedBody } from './refused-body.ts';
import { findWrongField } from './wrong-field.ts';

export const JSON_BODY_LIMIT_BYTES = 256 * 1024;

/** Takes JSON in UTF-8 and nothing like it; an empty body counts as none, whatever type it says it has. */
export function acceptJson(v1: FastifyInstance): void {
  v1.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(request.headers['content-type'])) return done(new RefusedBody(answers.otherCharset));
    const text = decodeUtf8(bytes);
    if (text === undefined) return done(new RefusedBody(answers.brokenUtf8));
    try {
      return done(null, parseJson(text));
    } catch (error) {
      return done(error as Error);
    }
  });
}

/**
 * What `text` holds. Throws `RefusedBody` where it is no JSON, or cannot be meant as it stands: JSON.parse keeps
 * the last of two fields of one name in silence, and checks of fields pass over one named `__proto__`.
 */
function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedBody(answers.brokenJson);
  }
  const wrong = findWrongField(text);
  if (wrong === undefined) return value;
  const rule =
    wrong.kind === 'twice' ? 'is there more than once; send it once' : 'is not known; leave it out';
  throw new RefusedBody(answers.invalid([fieldError(wrong.path, rule)]));
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
