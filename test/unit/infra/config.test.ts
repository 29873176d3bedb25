import { describe, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';

describe('numbers in settings', () => {
  test.each(['0', '-1', '1.5', 'x', ' '])('a limit of %j requests is refused with what it must be', (value) =>
    expect(() => parseConfig({ RATE_LIMIT_PER_MINUTE: value })).toThrow(
      'RATE_LIMIT_PER_MINUTE: must be a whole number, 1 or more',
    ),
  );

  test.each(['1', '060'])('a limit of %j requests is taken', (value) =>
    expect(parseConfig({ RATE_LIMIT_PER_MINUTE: value }).RATE_LIMIT_PER_MINUTE).toBe(Number(value)),
  );

  test('a port may be 0, which is any', () => {
    expect(parseConfig({ PORT: '0' }).PORT).toBe(0);
    expect(() => parseConfig({ PORT: '-1' })).toThrow('PORT: must be a whole number, 0 or more');
  });
});

test('a speech model is the bundled one or a folder of Whisper', () => {
  expect(parseConfig({}).SPEECH_MODEL).toBe('moonshine-tiny-en');
  expect(parseConfig({ SPEECH_MODEL: 'whisper:whisper-base_q8' }).SPEECH_MODEL).toBe(
    'whisper:whisper-base_q8',
  );
  for (const wrong of ['whisper-base', 'whisper:', 'whisper:../up', 'whisper:a/b']) {
    expect(() => parseConfig({ SPEECH_MODEL: wrong })).toThrow('SPEECH_MODEL: must be moonshine-tiny-en, or');
  }
  expect(() => parseConfig({ SPEECH_LANGUAGE: 'German' })).toThrow(
    'SPEECH_LANGUAGE: must be a code such as de',
  );
});

describe('a language model', () => {
  test('needs its address and its name together', () => {
    expect(() => parseConfig({ LLM_BASE_URL: 'https://llm.example/v1' })).toThrow('LLM_MODEL: must be set');
    expect(() => parseConfig({ LLM_MODEL: 'small' })).toThrow('LLM_BASE_URL: must be set');
    expect(() => parseConfig({ LLM_BASE_URL: 'ftp://llm.example', LLM_MODEL: 'small' })).toThrow(
      'LLM_BASE_URL',
    );
    expect(parseConfig({ LLM_BASE_URL: 'http://127.0.0.1:11434/v1', LLM_MODEL: 'small' }).LLM_MODEL).toBe(
      'small',
    );
  });
});
