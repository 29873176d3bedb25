import { randomBytes } from 'node:crypto';

/** Forms as clients send them, made by hand so that a test can also make them wrong. */

export type FormPart = Readonly<{
  name: string;
  content: string | Buffer;
  /** Makes it a file. */
  fileName?: string;
  contentType?: string;
}>;

export type Form = Readonly<{ contentType: string; body: Buffer }>;

export const text = (name: string, content: string): FormPart => ({ name, content });

export const file = (name: string, content: Buffer, fileName = 'talk.mp4'): FormPart => ({
  name,
  content,
  fileName,
});

export function newBoundary(): string {
  return `----clipledger${randomBytes(12).toString('hex')}`;
}

export function partHead(
  boundary: string,
  { name, fileName, contentType }: Omit<FormPart, 'content'>,
): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`;
  const type = contentType === undefined ? '' : `Content-Type: ${contentType}\r\n`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type}\r\n`;
}

export const closing = (boundary: string): string => `--${boundary}--\r\n`;

export const formType = (boundary: string): string => `multipart/form-data; boundary=${boundary}`;

export function formOf(parts: readonly FormPart[], boundary = newBoundary()): Form {
  const pieces = parts.flatMap((part) => [
    Buffer.from(partHead(boundary, part)),
    Buffer.from(part.content),
    Buffer.from('\r\n'),
  ]);
  return {
    contentType: formType(boundary),
    body: Buffer.concat([...pieces, Buffer.from(closing(boundary))]),
  };
}

/** Bytes that begin like an MP4 and hold nothing. */
export function mp4Like(bytes: number): Buffer {
  const content = Buffer.alloc(bytes, 0x61);
  content.write('\0\0\0\x20ftypisom', 0, 'latin1');
  return content;
}
