import { z } from 'zod';

/** The bodies of all answers that refuse; `answers.ts` makes them. */

export const errorBody = z.object({ error: z.string() });

/** 400, and 501 of a callback that cannot be signed: everything that is wrong with the request, field by field where it is about fields. */
export const invalidBody = errorBody.extend({
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});

/** 402: the sums are there when a create costs more than there is. */
export const insufficientBody = errorBody.extend({
  required_cents: z.int().optional(),
  balance_cents: z.int().optional(),
});
