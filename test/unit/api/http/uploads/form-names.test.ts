import { expect, test } from 'vitest';
import { boundaryOf } from '#api/http/uploads/boundary.ts';
import { fileNameOf } from '#api/http/uploads/file-name.ts';

test.each([
  ['multipart/form-data; boundary=abc', 'abc'],
  ['multipart/form-data; boundary="a b"', 'a b'],
  ['Multipart/Form-Data;BOUNDARY=abc; charset=utf-8', 'abc'],
  ['multipart/form-data; x-boundary=no; boundary=yes', 'yes'],
  ['multipart/form-data', undefined],
  ['multipart/form-data; boundary=', undefined],
  ['multipart/form-data; boundary=""', undefined],
  [`multipart/form-data; boundary=${'x'.repeat(201)}`, undefined],
  [undefined, undefined],
])('the boundary of %j is %j', (contentType, boundary) => expect(boundaryOf(contentType)).toBe(boundary));

test.each([
  ['talk.mp4', 'talk.mp4'],
  ['  ', null],
  ['', null],
  [undefined, null],
  ['a\u0000b\r\n.mp4', 'ab.mp4'],
  ['\ud800.mp4', '\ufffd.mp4'],
  ['x'.repeat(300), 'x'.repeat(255)],
])('the file name %j is kept as %j', (sent, kept) => expect(fileNameOf(sent)).toBe(kept));
