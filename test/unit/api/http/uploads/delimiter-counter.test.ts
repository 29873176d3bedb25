import { describe, expect, test } from 'vitest';
import { DelimiterCounter } from '#api/http/uploads/delimiter-counter.ts';
import { seededRandom } from '#test/seeded-random.ts';

function counted(body: string, pieceBytes = body.length) {
  const counter = new DelimiterCounter('B');
  const bytes = Buffer.from(body, 'latin1');
  for (let at = 0; at < bytes.length; at += Math.max(1, pieceBytes))
    counter.push(bytes.subarray(at, at + Math.max(1, pieceBytes)));
  return { parts: counter.partCount, isClosed: counter.isClosed };
}

describe('the delimiters of a body', () => {
  test.each([
    ['', 0, false],
    ['--B--', 0, true],
    ['--B--\r\n', 0, true],
    ['--B\r\n\r\na\r\n--B--', 1, true],
    ['--B\r\n\r\na\r\n--B\r\n\r\nb\r\n--B--', 2, true],
    ['before\r\n--B\r\n\r\na\r\n--B--after', 1, true],
    ['--B\r\n\r\na\r\n--B--\r\n--B\r\n', 1, true],
    ['--B\r\n\r\na', 1, false],
    ['--B\r\n\r\na\r\n--B-', 1, false],
    ['x--B\r\n--B--', 0, true],
    ['--B\r\n\r\na--B--\r\n--C--', 1, false],
  ])('%j: %i parts, closed: %s', (body, parts, isClosed) => {
    expect(counted(body)).toEqual({ parts, isClosed });
    for (let pieceBytes = 1; pieceBytes < 12; pieceBytes += 1)
      expect(counted(body, pieceBytes)).toEqual({ parts, isClosed });
  });

  test('are the same however the body is cut', () => {
    const random = seededRandom(7);
    const words = ['\r\n--B', '\r\n', '--', 'B', '-', 'text', '\r', '\n--B'];
    for (let round = 0; round < 300; round += 1) {
      const count = Math.floor(random() * 40);
      const body = Array.from({ length: count }, () => words[Math.floor(random() * words.length)]).join('');
      const whole = counted(body);
      for (const pieceBytes of [1, 2, 3, 5, 7, 11, 64]) expect(counted(body, pieceBytes)).toEqual(whole);
    }
  });
});
