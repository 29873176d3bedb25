import { expect, test } from 'vitest';
import { clipTitle } from '#workers/clip/choose/clip-title.ts';

const called = (fileName: string, title: string | null = null) => ({ fileName, title });
const span = { startMs: 3_200, endMs: 34_400 };

test.each([
  ['board_meeting-2024.mp4', 'Board meeting 2024, 0:03 to 0:34'],
  ['My%20holiday.webm', 'My holiday, 0:03 to 0:34'],
  ['Gespräch über Züge.mov', 'Gespräch über Züge, 0:03 to 0:34'],
  ['talk', 'Talk, 0:03 to 0:34'],
  ['', 'Clip from 0:03 to 0:34'],
  ['1234.mp4', 'Clip from 0:03 to 0:34'],
  ['9f86d081884c7d65.mp4', 'Clip from 0:03 to 0:34'],
  ['%E0%A4%A', 'Clip from 0:03 to 0:34'],
])('%s becomes "%s"', (name, title) => {
  expect(clipTitle(called(name), span)).toBe(title);
});

test('a long name is cut between words', () => {
  const title = clipTitle(called(`${'word '.repeat(40)}.mp4`), span);
  expect(title).toMatch(/^Word( word)+, 0:03 to 0:34$/);
  expect(title.length).toBeLessThan(80);
});

test('control and direction characters do not get through', () => {
  expect(clipTitle(called('a\u202ebc\u0000\nd.mp4'), span)).toBe('Abcd, 0:03 to 0:34');
});

test('times beyond an hour have hours', () => {
  expect(clipTitle(called('talk'), { startMs: 3_600_000, endMs: 3_665_000 })).toBe(
    'Talk, 1:00:00 to 1:01:05',
  );
});

test.each([
  ['Is 3 > 2? Yes. node.js', 'Is 3 > 2? Yes. node.js, 0:03 to 0:34'],
  ['  Two\n lines \u202e', 'Two lines, 0:03 to 0:34'],
  ['100% sicher', '100% sicher, 0:03 to 0:34'],
  ['???', 'Watch, 0:03 to 0:34'],
])('a platform’s title %j goes before the URL’s name, as it was written', (title, expected) => {
  expect(clipTitle(called('watch', title), span)).toBe(expected);
});
