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
