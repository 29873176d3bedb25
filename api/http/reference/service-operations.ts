import { z } from 'zod';
import { answers } from '../answers.ts';
import type { Operation } from './operation.ts';

export const readinessBody = z.object({
  status: z.enum(['ready', 'not ready']),
  reasons: z.array(z.string()),
});
const livenessBody = z.object({ status: z.literal('live') });

/** What is for those who run the service, and for tools that read the reference. */
export const serviceOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/health/live',
    id: 'getLiveness',
    tag: 'Service',
    summary: 'Is it alive?',
    description: 'Answers while the process runs.',
    access: 'open',
    successes: [
      {
        status: 200,
        when: 'The process runs.',
        body: { name: 'Liveness', schema: livenessBody },
        examples: { live: { status: 'live' } },
      },
    ],
    commands: [{ title: 'Alive?', text: 'curl {base_url}/health/live' }],
  },
  {
    method: 'get',
    path: '/health/ready',
    id: 'getReadiness',
    tag: 'Service',
    summary: 'Can it serve?',
    description: 'Tells whether this instance can take requests now, and why not.',
    access: 'open',
    successes: [
      {
        status: 200,
        when: 'It can.',
        body: { name: 'Readiness', schema: readinessBody },
        examples: { ready: { status: 'ready', reasons: [] } },
      },
      {
        status: 503,
        when: 'It cannot.',
        body: { name: 'Readiness', schema: readinessBody },
        examples: {
          'not ready': {
            status: 'not ready',
            reasons: ['The database does not answer (Postgres).'],
          },
        },
      },
    ],
    commands: [{ title: 'Ready?', text: 'curl {base_url}/health/ready' }],
  },
  {
    method: 'get',
    path: '/metrics',
    id: 'getMetrics',
    tag: 'Service',
    summary: 'Metrics',
    description: 'Counters and durations of this instance in the text format of Prometheus.',
    access: 'open',
    successes: [
      {
        status: 200,
        when: 'The metrics.',
        contentType: 'text/plain',
        examples: {
          metrics: 'clipledger_http_request_seconds_count{method="GET",route="/v1/test",status="200"} 1',
        },
      },
    ],
    commands: [{ title: 'Metrics', text: 'curl {base_url}/metrics' }],
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'getOpenApiDocument',
    tag: 'Service',
    summary: 'This reference for programs',
    description: 'The OpenAPI 3.1 document that this reference is made from.',
    access: 'open',
    successes: [
      {
        status: 200,
        when: 'The document.',
        body: { name: 'OpenApiDocument', schema: z.looseObject({ openapi: z.literal('3.1.0') }) },
        examples: { document: { openapi: '3.1.0' } },
      },
    ],
    commands: [{ title: 'The document', text: 'curl {base_url}/openapi.json' }],
  },
  {
    method: 'get',
    path: '/docs',
    id: 'getDocs',
    tag: 'Service',
    summary: 'This reference for people',
    description: 'This page.',
    access: 'open',
    successes: [
      {
        status: 200,
        when: 'The page.',
        contentType: 'text/html',
        examples: { page: '<!doctype html>' },
      },
    ],
    commands: [{ title: 'The page', text: 'curl {base_url}/docs' }],
  },
];

/** What a path can answer that no operation is at: for the page's table of errors. */
export const unroutedRefusals = [
  { when: 'There is nothing at this path.', answer: answers.unknownRoute },
  { when: 'The path does not take this method.', answer: answers.wrongMethod('PUT', ['GET', 'POST']) },
];
