import { z } from 'zod';
import { answers } from '../answers.ts';
import { cursorAfter } from '../cursor.ts';
import { fieldError } from '../field-rules.ts';
import { jobListBody, jobListQuery } from '../list-jobs.ts';
import { MOST_ROWS, USUAL_ROWS } from '../list-query.ts';
import { transactionListBody } from '../list-transactions.ts';
import { deliveryBody, deliveryListBody, deliveryListQuery } from '../webhook-deliveries.ts';
import { catchingUp } from './common-refusals.ts';
import { jobId } from './job-parts.ts';
import type { Operation, Parameter, Refusal } from './operation.ts';

const job_id = String(jobId.example);
const created_at = '2030-01-31T12:00:00.000Z';
const deliveryId = '4b3a2c1d-9e8f-4a7b-8c6d-5e4f3a2b1c0d';

const cursor = (example: string): Parameter => ({
  in: 'query',
  name: 'cursor',
  description: 'The next_cursor of the page before, to go on behind it.',
  schema: z.string(),
  example,
});
const transactionsCursor = cursorAfter('transactions', [5]);
const limit: Parameter = {
  in: 'query',
  name: 'limit',
  description: 'How many rows a page has at most.',
  schema: z.int().min(1).max(MOST_ROWS).default(USUAL_ROWS),
  example: USUAL_ROWS,
};

const wrongQuery: Refusal = {
  when: 'A query parameter is not known, is there twice, or is not what it must be.',
  answer: answers.invalid([fieldError(['limit'], `must be an integer from 1 to ${MOST_ROWS}`)]),
};

export const listJobs: Operation = {
  method: 'get',
  path: '/v1/jobs',
  id: 'listJobs',
  tag: 'Jobs',
  summary: 'List jobs',
  description: 'All jobs of your team, newest first.',
  access: 'key',
  parameters: [
    {
      in: 'query',
      name: 'kind',
      description: 'Only jobs of this kind.',
      schema: jobListQuery.out.shape.kind,
      example: 'clip',
    },
    {
      in: 'query',
      name: 'status',
      description: 'Only jobs that stand so.',
      schema: jobListQuery.out.shape.status,
      example: 'completed',
    },
    cursor(cursorAfter('jobs', [Date.parse(created_at), job_id])),
    limit,
  ],
  successes: [
    {
      status: 200,
      when: 'A page of jobs.',
      body: { name: 'JobList', schema: jobListBody },
      examples: {
        'the last page': {
          jobs: [
            {
              job_id,
              kind: 'clip',
              status: 'processing',
              num_clips: 2,
              progress: { completed: 1, total: 2 },
              cost_cents: 300,
              created_at,
              finished_at: null,
            },
            {
              job_id: '1c2d3e4f-5a6b-4c7d-8e9f-0a1b2c3d4e5f',
              kind: 'face_swap',
              status: 'completed',
              cost_cents: 680,
              created_at,
              finished_at: '2030-01-31T12:04:00.000Z',
            },
          ],
          next_cursor: null,
        },
      },
    },
  ],
  refusals: [wrongQuery, catchingUp],
  commands: [
    {
      title: 'What is still being made?',
      text: `curl "{base_url}/v1/jobs?kind=clip&status=processing&limit=50" -H "X-API-Key: $API_KEY"`,
    },
  ],
};

export const listTransactions: Operation = {
  method: 'get',
  path: '/v1/wallet/transactions',
  id: 'listTransactions',
  tag: 'Wallet',
  summary: 'List transactions',
  description:
    'Every entry of the wallet, newest first. All amounts together are the balance, so your books can be reconciled with the ledger; seq has no gaps.',
  access: 'key',
  parameters: [cursor(transactionsCursor), limit],
  successes: [
    {
      status: 200,
      when: 'A page of entries.',
      body: { name: 'TransactionList', schema: transactionListBody },
      examples: {
        'a first page': {
          transactions: [
            {
              event_id: '7a6b5c4d-3e2f-4a1b-9c8d-7e6f5a4b3c2d',
              seq: 5,
              type: 'WalletDebited',
              amount_cents: -300,
              balance_cents: 1700,
              job_id,
              clip_id: null,
              debit_id: '7a6b5c4d-3e2f-4a1b-9c8d-7e6f5a4b3c2d',
              reference: null,
              reason: null,
              occurred_at: created_at,
            },
          ],
          next_cursor: transactionsCursor,
        },
      },
    },
  ],
  refusals: [wrongQuery, catchingUp],
  commands: [
    {
      title: 'The last entries',
      text: `curl "{base_url}/v1/wallet/transactions?limit=10" -H "X-API-Key: $API_KEY"`,
    },
  ],
};

const delivery = {
  delivery_id: deliveryId,
  job_id,
  url: 'https://hooks.example.com/clipledger',
  status: 'failed',
  attempts: 9,
  last_attempt_at: '2030-02-01T12:00:00.000Z',
  last_status_code: 500,
  last_error: 'The endpoint answered with status 500.',
  next_attempt_at: null,
  delivered_at: null,
  created_at,
};

export const listDeliveries: Operation = {
  method: 'get',
  path: '/v1/webhooks/deliveries',
  id: 'listDeliveries',
  tag: 'Webhooks',
  summary: 'List deliveries',
  description:
    'What was or will be sent to the callback_url of your jobs, newest first. Deliveries are signed by Standard Webhooks, and repeated with growing pauses for a day until your endpoint answers with a 2xx status.',
  access: 'key',
  parameters: [
    {
      in: 'query',
      name: 'job_id',
      description: 'Only deliveries of this job.',
      schema: z.uuid(),
      example: job_id,
    },
    {
      in: 'query',
      name: 'status',
      description: 'Only deliveries that stand so.',
      schema: deliveryListQuery.out.shape.status,
      example: 'failed',
    },
    cursor(cursorAfter('deliveries', [Date.parse(created_at), deliveryId])),
    limit,
  ],
  successes: [
    {
      status: 200,
      when: 'A page of deliveries.',
      body: { name: 'DeliveryList', schema: deliveryListBody },
      examples: { 'the last page': { deliveries: [delivery], next_cursor: null } },
    },
  ],
  refusals: [wrongQuery],
  commands: [
    {
      title: 'What did not arrive?',
      text: `curl "{base_url}/v1/webhooks/deliveries?status=failed" -H "X-API-Key: $API_KEY"`,
    },
  ],
};

export const replayDelivery: Operation = {
  method: 'post',
  path: '/v1/webhooks/deliveries/{deliveryId}/replay',
  id: 'replayDelivery',
  tag: 'Webhooks',
  summary: 'Send a delivery again',
  description:
    'Makes it due now, whatever became of it before, and begins its schedule of retries anew. Replays that come before the next attempt has begun are one: it is sent once for all of them. An attempt that is under way goes on, and it is sent once more after it. Takes no body.',
  access: 'key',
  parameters: [
    {
      in: 'path',
      name: 'deliveryId',
      description: 'The delivery_id of the delivery.',
      schema: z.string(),
      example: deliveryId,
    },
  ],
  successes: [
    {
      status: 202,
      when: 'It is about to be sent.',
      body: { name: 'Delivery', schema: deliveryBody },
      examples: {
        pending: { ...delivery, status: 'pending', next_attempt_at: '2030-02-02T08:00:00.000Z' },
      },
    },
  ],
  refusals: [
    { when: 'There is no such delivery of your team.', answer: answers.deliveryNotFound },
    { when: 'Webhooks are not set up on this service.', answer: answers.webhooksNotSetUp },
  ],
  commands: [
    {
      title: 'Once more',
      text: `curl -X POST {base_url}/v1/webhooks/deliveries/$DELIVERY_ID/replay -H "X-API-Key: $API_KEY"`,
    },
  ],
};
