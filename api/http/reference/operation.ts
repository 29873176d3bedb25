import type { z } from 'zod';
import type { Answer } from '../answers.ts';

/**
 * What the reference says about one operation: the document at `/openapi.json` and the page at `/docs` are
 * made from a table of these. Schemas and refusals are those of the handlers, so they cannot differ.
 */
export type Operation = Readonly<{
  method: 'get' | 'post' | 'delete';
  /** With `{parameters}`. */
  path: string;
  id: string;
  tag: Tag;
  summary: string;
  description: string;
  /** Whether it asks for an API key, with all refusals that come with it. */
  access: 'key' | 'open';
  parameters?: readonly Parameter[];
  bodies?: readonly RequestForm[];
  successes: readonly Success[];
  /** What it refuses besides what every operation does. */
  refusals?: readonly Refusal[];
  commands: readonly Command[];
}>;

export type Tag = 'Clips' | 'Face swaps' | 'Jobs' | 'Wallet' | 'Webhooks' | 'API keys' | 'Service';

/** A schema under the name that the document gives it. */
export type NamedSchema = Readonly<{ name: string; schema: z.ZodType }>;

export type Parameter = Readonly<{
  in: 'path' | 'query' | 'header';
  name: string;
  description: string;
  schema: z.ZodType;
  example: string | number;
}>;

export type RequestForm = Readonly<{
  contentType: 'application/json' | 'multipart/form-data';
  body: NamedSchema;
  examples: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}>;

export type Success = Readonly<{
  status: number;
  when: string;
  /** JSON; without one the answer is text. */
  body?: NamedSchema;
  contentType?: 'text/plain' | 'text/html';
  examples: Readonly<Record<string, unknown>>;
  headers?: readonly HeaderName[];
}>;

export type HeaderName = 'Location' | 'Retry-After' | 'Idempotency-Replayed' | 'Allow';

export type Refusal = Readonly<{ when: string; answer: Answer }>;

/** A command that works as it is pasted, with `{base_url}` for the service's address. */
export type Command = Readonly<{ title: string; text: string }>;
