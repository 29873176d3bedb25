import { describe, expect, test } from 'vitest';
import { readDecoderMessages } from '#workers/clip/decoder-messages.ts';

const damaged = 'file:/task/source: corrupt decoded frame in stream 1\n';

describe('what the decoder says', () => {
  test('damaged frames of the picture are counted, in whatever pieces they are told', () => {
    const messages = readDecoderMessages(1);
    const text = `frame= 3\n${damaged}${damaged}Error while decoding stream #0:1: Invalid data found\n`;
    for (const letter of text) messages.onStderr(Buffer.from(letter));
    expect(messages.damagedFrames()).toBe(3);
    expect(messages.seekFailed()).toBe(false);
  });

  test('damage of another stream is none of the picture', () => {
    const messages = readDecoderMessages(0);
    messages.onStderr(Buffer.from(`${damaged}Error while decoding stream #0:10: Invalid data found\n`));
    expect(messages.damagedFrames()).toBe(0);
  });

  test('a start that was not found is told', () => {
    const messages = readDecoderMessages(0);
    messages.onStderr(Buffer.from('file:/task/source: could not seek to position 12.000\n'));
    expect(messages.seekFailed()).toBe(true);
  });
});
