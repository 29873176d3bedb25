import { z } from 'zod';
import { answers } from '../answers.ts';
import { fieldError } from '../field-rules.ts';
import { createdKeyBody, createKeyBody, keyBody, keyListBody } from '../keys.ts';
import { testBody, walletBody } from '../routes.ts';
import { catchingUp, jsonRefusals } from './common-refusals.ts';
import type { Operation, Parameter } from './operation.ts';

export const testKey: Operation = {
  method: 'get',
  path: '/v1/test',
  id: 'testKey',
  tag: 'API keys',
  summary: 'Test the key',
  description: 'Tells that the key works, and whose it is.',
  access: 'key',
  successes: [
    {
      status: 200,
      when: 'The key works.',
      body: { name: 'KeyTest', schema: testBody },
      examples: {
        working: {
          status: 'working',
          team_id: 12,
          key_name: 'laptop',
          timestamp: '2030-01-31T12:00:00.000Z',
        },
      },
    },
  ],
  commands: [{ title: 'Does the key work?', text: `curl {base_url}/v1/test -H "X-API-Key: $API_KEY"` }],
};

export const getWallet: Operation = {
  method: 'get',
  path: '/v1/wallet',
  id: 'getWallet',
  tag: 'Wallet',
  summary: 'Get Wallet',
  description:
    "The wallet of the key's team. What was spent is net of refunds, so the balance is always what was topped up less what was spent.",
  access: 'key',
  successes: [
    {
      status: 200,
      when: 'The wallet.',
      body: { name: 'Wallet', schema: walletBody },
      examples: {
        wallet: { balance_cents: 1550, total_spent_cents: 450, total_topped_up_cents: 2000, active: true },
      },
    },
  ],
  refusals: [catchingUp],
  commands: [{ title: 'What is left?', text: `curl {base_url}/v1/wallet -H "X-API-Key: $API_KEY"` }],
};

const exampleKeyId = '8d3f6f0a-3a52-4d0b-8c56-0a9b1f2e3d4c';
const exampleKey = {
  key_id: exampleKeyId,
  name: 'laptop',
  prefix: 'cl_4fQz8',
  created_at: '2030-01-31T12:00:00.000Z',
  expires_at: null,
};

const keyId: Parameter = {
  in: 'path',
  name: 'keyId',
  description: 'The key_id of the key.',
  schema: z.string(),
  example: exampleKeyId,
};

const changeUnknown = { when: 'The ledger did not answer in time.', answer: answers.changeUnknown };

export const createKey: Operation = {
  method: 'post',
  path: '/v1/keys',
  id: 'createKey',
  tag: 'API keys',
  summary: 'Create a key',
  description:
    'Makes one more key for your team. Its value is in this answer and nowhere else: only its hash is kept. A team may have 100 keys that are neither revoked nor expired, unless the operator has set another limit.',
  access: 'key',
  bodies: [
    {
      contentType: 'application/json',
      body: { name: 'KeyRequest', schema: createKeyBody },
      examples: {
        'for good': { name: 'laptop' },
        'until a day': { name: 'build server', expires_at: '2090-12-31T00:00:00Z' },
      },
    },
  ],
  successes: [
    {
      status: 201,
      when: 'The key, with its value.',
      body: { name: 'CreatedKey', schema: createdKeyBody },
      examples: { key: { ...exampleKey, key: 'cl_4fQz8…' } },
    },
  ],
  refusals: [
    ...jsonRefusals,
    {
      when: 'The new key would live longer than the key that asks for it.',
      answer: answers.invalid([
        fieldError(
          ['expires_at'],
          'must not be later than 2030-12-31T00:00:00.000Z, when the key that makes this request expires',
        ),
      ]),
    },
    { when: 'The team has as many active keys as it may.', answer: answers.tooManyKeys(100) },
    { when: 'The ledger was too slow. Nothing was changed.', answer: answers.notCharged },
    changeUnknown,
    catchingUp,
  ],
  commands: [
    {
      title: 'One more key',
      text: `curl -X POST {base_url}/v1/keys \\
  -H "X-API-Key: $API_KEY" -H "Content-Type: application/json" \\
  -d '{"name": "laptop", "expires_at": "2090-12-31T00:00:00Z"}'`,
    },
  ],
};

export const listKeys: Operation = {
  method: 'get',
  path: '/v1/keys',
  id: 'listKeys',
  tag: 'API keys',
  summary: 'List keys',
  description: "All keys of your team, also the ones that were revoked or have expired. Never a key's value.",
  access: 'key',
  successes: [
    {
      status: 200,
      when: 'The keys.',
      body: { name: 'KeyList', schema: keyListBody },
      examples: {
        keys: { keys: [{ ...exampleKey, status: 'active', revoked_at: null, last_used_at: null }] },
      },
    },
  ],
  refusals: [catchingUp],
  commands: [{ title: 'All keys', text: `curl {base_url}/v1/keys -H "X-API-Key: $API_KEY"` }],
};

export const revokeKey: Operation = {
  method: 'delete',
  path: '/v1/keys/{keyId}',
  id: 'revokeKey',
  tag: 'API keys',
  summary: 'Revoke a key',
  description:
    'Ends a key for good, on every instance at once: none takes it any more, whatever else lags. Doing it again changes nothing. A key can revoke itself.',
  access: 'key',
  parameters: [keyId],
  successes: [
    {
      status: 200,
      when: 'The key is revoked.',
      body: { name: 'Key', schema: keyBody },
      examples: {
        revoked: {
          ...exampleKey,
          status: 'revoked',
          revoked_at: '2030-02-01T08:30:00.000Z',
          last_used_at: '2030-01-31T18:00:00.000Z',
        },
      },
    },
  ],
  refusals: [
    { when: 'There is no such key of your team.', answer: answers.keyNotFound },
    { when: 'The ledger was too slow. Nothing was changed.', answer: answers.notCharged },
    changeUnknown,
    catchingUp,
  ],
  commands: [
    {
      title: 'Revoke',
      text: `curl -X DELETE {base_url}/v1/keys/$KEY_ID -H "X-API-Key: $API_KEY"`,
    },
  ],
};
