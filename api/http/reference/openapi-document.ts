import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { errorBody, insufficientBody, invalidBody } from '../error-bodies.ts';
import { keyRefusals, serviceRefusals } from './common-refusals.ts';
import { componentSchemas, inlineSchema, schemaRef } from './json-schemas.ts';
import type {
  HeaderObject,
  MediaType,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './openapi-types.ts';
import type { HeaderName, NamedSchema, Operation, Refusal, Success, Tag } from './operation.ts';
import { jobEnded } from './webhook-message.ts';

/** Stands where the service's address goes, which depends on who asks. */
export const BASE_URL = 'https://base-url.invalid';

const tags: Readonly<Record<Tag, string>> = {
  Clips: 'Short vertical clips out of a long video, at 150 cents a clip.',
  'Face swaps': 'A face put into a video, at 20 cents for each second begun.',
  Jobs: 'All jobs of your team.',
  Wallet: 'What your team has, and each entry behind it.',
  Webhooks: 'Being told when a job ends.',
  'API keys': 'The keys of your team.',
  Service: 'For those who run the service. These ask for no key.',
};

/** The OpenAPI 3.1 document of `operations`, with `BASE_URL` as its server. */
export function openApiDocument(operations: readonly Operation[]): OpenApiDocument {
  const used = new Set(operations.map(({ tag }) => tag));
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations) {
    paths[operation.path] ??= {};
    Object.assign(paths[operation.path] ?? {}, { [operation.method]: operationObject(operation) });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Clipledger',
      version: '1.0.0',
      summary: 'A prepaid API that makes vertical clips and face swaps from videos.',
      description:
        'Your team tops up its wallet, posts a video and pays per job. Jobs run in the background: a create answers at once with a job_id, and its status is at the Location that it names. What fails is given back. Sums are integers of cents; times are ISO 8601 in UTC.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: BASE_URL }],
    tags: Object.entries(tags)
      .filter(([name]) => used.has(name as Tag))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: { jobEnded },
    components: {
      schemas: componentSchemas([...errorSchemas, ...operations.flatMap(schemasOf)]),
      headers,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'A key of your team, as it was shown when it was made.',
        },
      },
    },
  };
}

const errorSchemas: readonly NamedSchema[] = [
  { name: 'Error', schema: errorBody },
  { name: 'InvalidRequest', schema: invalidBody },
  { name: 'InsufficientFunds', schema: insufficientBody },
];

const schemasOf = ({ bodies = [], successes }: Operation): readonly NamedSchema[] => [
  ...bodies.map(({ body }) => body),
  ...successes.flatMap(({ body }) => (body === undefined ? [] : [body])),
];

function operationObject(operation: Operation): OperationObject {
  const { bodies = [], access } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    security: access === 'key' ? [{ apiKey: [] }] : [],
    parameters: (operation.parameters ?? []).map(
      ({ schema, ...parameter }): ParameterObject => ({
        ...parameter,
        required: parameter.in === 'path',
        schema: inlineSchema(schema),
      }),
    ),
    ...(bodies.length > 0 && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          bodies.map(({ contentType, body, examples }) => [
            contentType,
            { schema: schemaRef(body.name), examples: namedExamples(examples) },
          ]),
        ),
      },
    }),
    responses: responsesOf(operation),
    'x-codeSamples': operation.commands.map(({ title, text }) => ({
      lang: 'Shell',
      label: title,
      source: text.replaceAll('{base_url}', BASE_URL),
    })),
  };
}

const namedExamples = (examples: Readonly<Record<string, unknown>>): NonNullable<MediaType['examples']> =>
  Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));

/** By status: the successes, then everything that can be refused, each with its own text as an example. */
function responsesOf(operation: Operation): Record<string, ResponseObject> {
  const { successes, access, refusals = [] } = operation;
  const all = [...(access === 'key' ? keyRefusals : []), ...refusals, ...serviceRefusals];
  const byStatus = Map.groupBy(all, ({ answer }) => answer.status);
  const responses = new Map<number, ResponseObject>();
  for (const [status, group] of byStatus) responses.set(status, refusalResponse(status, group));
  for (const success of successes) responses.set(success.status, successResponse(success));
  for (const response of responses.values()) if (access === 'key') Object.assign(response.headers, rateLimit);
  return Object.fromEntries([...responses].sort(([a], [b]) => a - b));
}

function successResponse({ when, body, contentType, examples, headers = [] }: Success): ResponseObject {
  const type = body === undefined ? (contentType ?? 'text/plain') : 'application/json';
  const schema = body === undefined ? { type: 'string' } : schemaRef(body.name);
  return {
    description: when,
    headers: headerRefs(headers),
    content: { [type]: { schema, examples: namedExamples(examples) } },
  };
}

function refusalResponse(status: number, refusals: readonly Refusal[]): ResponseObject {
  const names = new Set(refusals.flatMap(({ answer }) => Object.keys(answer.headers ?? {})));
  const known = headerNames.filter((name) => names.has(name.toLowerCase()));
  return {
    description: STATUS_CODES[status] ?? String(status),
    headers: headerRefs(known),
    content: {
      'application/json': {
        schema: schemaRef(errorSchemaName(status)),
        examples: Object.fromEntries(
          refusals.map(({ when, answer }) => [
            exampleName(String(answer.body['error'])),
            { summary: when, value: answer.body },
          ]),
        ),
      },
    },
  };
}

const errorSchemaName = (status: number): string => {
  if (status === 400 || status === 501) return 'InvalidRequest';
  return status === 402 ? 'InsufficientFunds' : 'Error';
};

/** Keys of examples are few words of their text. */
const exampleName = (error: string): string =>
  error
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .split('-')
    .slice(0, 12)
    .join('-');

const headerRefs = (names: readonly HeaderName[]): Record<string, HeaderObject> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const seconds = inlineSchema(z.int().min(1));
const count = inlineSchema(z.int().min(0));

const headers = {
  Location: {
    description: "Where the job's status is.",
    schema: { type: 'string', format: 'uri-reference' },
  },
  'Retry-After': { description: 'In how many seconds to ask again.', schema: seconds },
  'Idempotency-Replayed': {
    description: 'true when this is the answer of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  Allow: { description: 'The methods that the path takes.', schema: { type: 'string' } },
  'RateLimit-Limit': { description: 'Requests that the key may make in a minute.', schema: count },
  'RateLimit-Remaining': { description: 'Requests that are left in this minute.', schema: count },
  'RateLimit-Reset': { description: 'Seconds until a new minute begins.', schema: seconds },
};

const headerNames: readonly HeaderName[] = ['Location', 'Retry-After', 'Idempotency-Replayed', 'Allow'];

/** On every answer to a request that was counted: not when the key or the billing was refused. */
const rateLimit = Object.fromEntries(
  ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map((name) => [
    name,
    { $ref: `#/components/headers/${name}` },
  ]),
);
