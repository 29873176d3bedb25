import { webhookMessageBody } from '../../webhooks/message.ts';
import { inlineSchema } from './json-schemas.ts';
import type { ParameterObject, WebhookObject } from './openapi-types.ts';

const header = (name: string, description: string, example: string | number): ParameterObject => ({
  in: 'header',
  name,
  description,
  required: true,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
});

/** What is posted to a `callback_url`: the one operation that the reader's own server has to have. */
export const jobEnded: WebhookObject = {
  post: {
    operationId: 'jobEnded',
    tags: ['Webhooks'],
    summary: 'A job has ended',
    description:
      "Posted to a job's callback_url once it has ended and its refunds can be read. `data` is what the job's status answers. Verify the signature, by any library of Standard Webhooks, before you trust it. The same message can come more than once; its webhook-id is the same then.",
    security: [],
    parameters: [
      header('webhook-id', 'The delivery_id of the delivery.', '0b7c1f7e-5d0f-5a55-9f5e-3c1a2b4d6e8f'),
      header('webhook-timestamp', 'When it was sent, in seconds since 1970.', 1_893_456_000),
      header(
        'webhook-signature',
        "v1 and the base64 of the HMAC-SHA256, by your team's secret, of webhook-id, webhook-timestamp and body, joined by full stops. Several, separated by spaces, for 24 hours after the secret was rotated.",
        'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      ),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: inlineSchema(webhookMessageBody) } },
    },
    responses: {
      '2XX': { description: 'You have it. Everything else, redirects included, is tried again for a day.' },
      '410': { description: 'You want it no more: it is not tried again.' },
    },
  },
};
