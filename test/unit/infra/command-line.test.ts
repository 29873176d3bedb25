import { expect, test } from 'vitest';
import { CommandLineError, readCommandLine } from '#infra/command-line.ts';

const options = {
  cents: { type: 'string' },
  reference: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;
const read = (...args: string[]) => readCommandLine(args, options);

test('options and words come in any order, and a value may begin with a dash', () => {
  expect(read('list', '--cents', '-500', '--json', 'more')).toEqual({
    options: { cents: '-500', json: true },
    words: ['list', 'more'],
  });
  expect(read('--reference=-x', '-h', '--', '--json')).toEqual({
    options: { reference: '-x', help: true },
    words: ['--json'],
  });
});

test.each([
  [['--colour', 'red'], 'There is no option --colour here.'],
  [['-x'], 'There is no option -x here.'],
  [['--__proto__=1'], 'There is no option --__proto__ here.'],
  [['--cents'], '--cents needs a value.'],
  [['--cents='], '--cents needs a value.'],
  [['--cents', '--json'], '--cents needs a value, and --json is an option.'],
  [['--json=yes'], '--json takes no value, so not yes either.'],
  [['--json', '--json'], '--json is given twice; give it once.'],
])('%j is refused in plain words', (args, says) => {
  expect(() => read(...args)).toThrow(new CommandLineError(says));
});
