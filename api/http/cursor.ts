import { z } from 'zod';

/**
 * Where a page of a list ended, as clients carry it to the next one: opaque to them, base64url of JSON to us.
 * It names the last row that was shown and not a count of rows, so that new rows at the list's beginning
 * neither repeat nor hide one. It grants nothing: whose rows are shown follows from the key.
 */

/** The first element of every cursor: a cursor of one list is no place in another. */
type ListName = 'jobs' | 'transactions' | 'deliveries';

const rule = 'must be the next_cursor of the page before, unchanged';

/** The query parameter `cursor` of a list whose rows are ordered by `key`. */
export const cursorParameter = <const Key extends readonly [z.ZodType, ...z.ZodType[]]>(
  list: ListName,
  key: Key,
) =>
  z.string({ error: rule }).transform((text, context) => {
    const place = z.tuple(key).safeParse(decode(list, text));
    if (place.success) return place.data;
    context.addIssue({ code: 'custom', message: rule });
    return z.NEVER;
  });

/** The cursor that continues `list` behind the row with this key. */
export const cursorAfter = (list: ListName, key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify([list, ...key])).toString('base64url');

/** The key in `text`; undefined unless it is written exactly as `cursorAfter` writes it. */
function decode(list: ListName, text: string): unknown {
  try {
    const [name, ...key] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return name === list && cursorAfter(list, key) === text ? key : undefined;
  } catch {
    return undefined;
  }
}
