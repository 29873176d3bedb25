import { expect, test } from 'vitest';
import { attachment } from '#infra/object-storage/content-disposition.ts';

test('a plain name stays as it is', () => {
  expect(attachment('clip-7.mp4')).toBe(`attachment; filename="clip-7.mp4"; filename*=UTF-8''clip-7.mp4`);
});

test('other scripts survive in the extended form', () => {
  expect(attachment('Gespräch 1.mp4')).toBe(
    `attachment; filename="Gespr_ch 1.mp4"; filename*=UTF-8''Gespr%C3%A4ch%201.mp4`,
  );
});

test('nothing breaks out of the header', () => {
  const value = attachment('a"; filename="evil.exe\r\nX-Evil: 1\u{d800}');
  expect(value).not.toMatch(/[\r\n]/);
  expect(value.match(/filename="/g)).toHaveLength(1);
});
