import { z } from 'zod';
import type { FieldError } from './answers.ts';

/**
 * The kinds of fields that requests have. Each says its whole rule in its message, so that the first thing
 * that is wrong with a request already tells the caller what to send instead.
 */

/** An integer between two bounds; `"3"` and `1.5` are none. */
export const integerBetween = (min: number, max: number) => {
  const error = `must be an integer from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** One of a closed list of words. */
export const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(', ')}` });

export const flag = () => z.boolean({ error: 'must be true or false' });

/** Text of at most `max` characters. */
export const textUpTo = (max: number) => {
  const error = `must be a string of at most ${max} characters`;
  return z.string({ error }).max(max, { error });
};

/** Text of 1 to `max` characters, none of them a control character and not only spaces. */
export const nameUpTo = (max: number) => {
  const error = `must be a string of 1 to ${max} characters without control characters`;
  return z
    .string({ error })
    .max(max, { error })
    .regex(/^\P{Cc}*$/u, { error })
    .regex(/\S/u, { error });
};

/** The handlers look at what it leads to; the schema's readers are told what it looks like. */
export const httpUrl = () =>
  z
    .string({ error: 'must be a string with a URL that starts with http:// or https://' })
    .meta({ format: 'uri', pattern: '^https?://' });

/** An object without any other fields than those of `shape`. */
export const objectOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `is not known; the fields here are ${Object.keys(shape).join(', ')}`
        : `must be an object with the fields ${Object.keys(shape).join(', ')}`,
  });

/** A body can have thousands of unknown fields; nobody reads so many errors. */
const MOST_ERRORS = 50;

/** What `value` is by `schema`, or everything that is wrong with it as sentences. */
export function checkFields<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Readonly<{ value: z.output<Schema> }> | Readonly<{ errors: readonly FieldError[] }> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data };
  const errors = parsed.error.issues.flatMap(fieldErrors);
  const firstOfEach = new Map(errors.toReversed().map((error) => [error.path, error]));
  const distinct = errors.filter((error) => firstOfEach.get(error.path) === error);
  return { errors: distinct.slice(0, MOST_ERRORS) };
}

function fieldErrors(issue: z.core.$ZodIssue): readonly FieldError[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => fieldError([...issue.path, key], issue.message));
  return [fieldError(issue.path, issue.message)];
}

const LONGEST_NAMED_PATH = 100;

/** `path` may hold what the caller sent, so it is cut to a readable length. */
export function fieldError(path: readonly PropertyKey[], rule: string): FieldError {
  const dotted = path.map(String).join('.').slice(0, LONGEST_NAMED_PATH);
  return { path: dotted, message: `${dotted === '' ? 'The body' : dotted} ${rule}.` };
}
