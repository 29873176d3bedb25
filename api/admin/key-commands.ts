import { randomUUID } from 'node:crypto';
import { isUuid } from '#schemas/ids.ts';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../api-key.ts';
import { keyStatus } from '../http/keys.ts';
import { findApiKey, listApiKeys } from '../read-keys.ts';
import {
  type AdminCommand,
  type Options,
  requiredInteger,
  requiredName,
  requiredText,
  table,
  UsageError,
} from './command.ts';
import { Refused } from './operator.ts';
import { refusal } from './team-commands.ts';

/** API keys of teams. */

const createKey: AdminCommand = {
  name: 'key create',
  summary: 'Create an API key for a team; its value is shown this once.',
  usage: [
    '--team ID',
    '--name NAME',
    '--expires-at ISO   such as 2030-01-31T00:00:00Z; without it the key never expires',
  ],
  options: { team: { type: 'string' }, name: { type: 'string' }, 'expires-at': { type: 'string' } },
  run: async (options, operator) => {
    const teamId = requiredInteger(options, 'team');
    const name = requiredName(options, 'name');
    const expiresAt = expiry(options);
    const key = newApiKey();
    const keyId = randomUUID();
    const value = {
      ...operator.envelope(teamId),
      key_id: keyId,
      name,
      prefix: apiKeyPrefix(key),
      key_hash: hashApiKey(key),
      expires_at: expiresAt,
    };
    const reply = await operator.submit({ name: 'CreateApiKey', value });
    if (reply.refusal !== null) throw refusal(reply, teamId);
    return {
      json: { key_id: keyId, key },
      lines: [`Key ${keyId} of team ${teamId}; it is not shown again:`, key],
    };
  },
};

const isoTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function expiry(options: Options): number | null {
  const text = options['expires-at'];
  if (text === undefined) return null;
  const timeMs = typeof text === 'string' && isoTime.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs))
    throw new UsageError(
      '--expires-at must be an ISO 8601 time with a time zone, such as 2030-01-31T00:00:00Z.',
    );
  if (timeMs <= Date.now()) throw new Refused('--expires-at has passed already; no key was created.');
  return timeMs;
}

const revokeKey: AdminCommand = {
  name: 'key revoke',
  summary: 'Revoke a key for good; revoking it again changes nothing.',
  usage: ['--key-id ID'],
  options: { 'key-id': { type: 'string' } },
  run: async (options, operator) => {
    const keyId = requiredText(options, 'key-id').toLowerCase();
    if (!isUuid(keyId))
      throw new UsageError('--key-id must be a UUID, as `key create` and `key list` show it.');
    const row = await findApiKey(operator.pool, keyId);
    if (row === undefined) throw new Refused(`There is no key ${keyId}; \`key list\` shows those of a team.`);
    const value = { ...operator.envelope(row.teamId), key_id: keyId };
    const reply = await operator.submit({ name: 'RevokeApiKey', value });
    if (reply.refusal !== null) throw refusal(reply, row.teamId);
    return {
      json: { key_id: keyId, team_id: row.teamId, status: 'revoked' },
      lines: [`Key ${keyId} is revoked.`],
    };
  },
};

const listKeys: AdminCommand = {
  name: 'key list',
  summary: "List a team's keys, without their values.",
  usage: ['--team ID'],
  options: { team: { type: 'string' } },
  run: async (options, operator) => {
    const rows = await listApiKeys(operator.pool, requiredInteger(options, 'team'));
    const now = new Date();
    const keys = rows.map((row) => ({
      key_id: row.keyId,
      name: row.name,
      prefix: row.prefix,
      status: keyStatus(row, now),
      created_at: row.createdAt,
      expires_at: row.expiresAt,
      revoked_at: row.revokedAt,
      last_used_at: row.lastUsedAt,
    }));
    const lines = table(
      ['KEY ID', 'NAME', 'PREFIX', 'STATUS', 'CREATED', 'EXPIRES'],
      keys.map((key) => [
        key.key_id,
        key.name,
        key.prefix,
        key.status,
        key.created_at.toISOString(),
        key.expires_at?.toISOString() ?? 'never',
      ]),
    );
    return { json: { keys }, lines };
  },
};

export const keyCommands: readonly AdminCommand[] = [createKey, revokeKey, listKeys];
