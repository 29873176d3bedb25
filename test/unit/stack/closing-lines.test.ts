import { describe, expect, it } from 'vitest';
import { closingLines } from '#test/stack/closing-reporter.ts';

describe('the closing lines of a test run', () => {
  it('end with the counts alone on the last line', () => {
    const lines = closingLines({ passed: 12, failed: 0, skipped: 0 }, 'Ran in containers.').split('\n');
    expect(lines).toEqual(['', 'Ran in containers.', '12 passed, 0 failed', '']);
  });

  it('count skipped tests only where there are any', () => {
    expect(closingLines({ passed: 1, failed: 2, skipped: 3 }, undefined)).toBe(
      '\n1 passed, 2 failed, 3 skipped\n',
    );
  });
});
