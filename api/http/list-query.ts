import { z } from 'zod';

/** What the query strings of lists have in common. */

export const MOST_ROWS = 100;
export const USUAL_ROWS = 20;

const rowsRule = `must be an integer from 1 to ${MOST_ROWS}`;

/** How many rows a page has at most. */
export const limitParameter = z
  .string({ error: rowsRule })
  .regex(/^[1-9]\d{0,2}$/, { error: rowsRule })
  .transform(Number)
  .pipe(z.int().max(MOST_ROWS, { error: rowsRule }))
  .default(USUAL_ROWS);

/** A query string with these parameters, each given once at most, and no others. */
export const queryOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    refuseRepeated,
    z.strictObject(shape, {
      error: (issue) =>
        issue.code === 'unrecognized_keys'
          ? `is not known; the query parameters here are ${Object.keys(shape).join(', ')}`
          : undefined,
    }),
  );

/** Of several values of a parameter all but one would be ignored, and which is meant only the caller knows. */
function refuseRepeated(query: unknown, context: z.RefinementCtx): unknown {
  const repeated = Object.entries(query as Record<string, unknown>).filter(([, value]) =>
    Array.isArray(value),
  );
  for (const [name] of repeated)
    context.addIssue({ code: 'custom', path: [name], message: 'is given more than once; give it once' });
  return query;
}

export type Page<Row> = Readonly<{ rows: readonly Row[]; last: Row | undefined }>;

/**
 * The first `limit` of `rows`, of which one more was asked for: `last` is the row to go on behind, undefined
 * on the last page.
 */
export function pageOf<Row>(rows: readonly Row[], limit: number): Page<Row> {
  return { rows: rows.slice(0, limit), last: rows.length > limit ? rows[limit - 1] : undefined };
}
