import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { isUuid } from '#schemas/ids.ts';
import type { CommandReply } from '#schemas/records.ts';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../api-key.ts';
import { commandEnvelope } from '../command-envelope.ts';
import type { Command } from '../ledger/decision.ts';
import { LedgerUnavailable } from '../ledger/ledger-client.ts';
import { type ApiKeyRow, countActiveKeys, findApiKey, listApiKeys } from '../read-keys.ts';
import { type Answer, answers, type FieldError } from './answers.ts';
import type { Principal } from './authentication.ts';
import { checkFields, fieldError, nameUpTo, objectOf } from './field-rules.ts';
import { type HttpService, READ_YOUR_WRITES_LIMIT_MS } from './http-service.ts';

const NAME_CHARACTERS = 200;
const expiryRule =
  'must be an ISO 8601 time with a time zone, such as 2030-01-31T00:00:00Z, that is still to come';

export const createKeyBody = objectOf({
  name: nameUpTo(NAME_CHARACTERS),
  expires_at: z.iso.datetime({ offset: true, error: expiryRule }).nullable().optional(),
});

export const keyBody = z.object({
  key_id: z.uuid(),
  name: z.string(),
  prefix: z.string(),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
  last_used_at: z.iso.datetime().nullable(),
});
export const keyListBody = z.object({ keys: z.array(keyBody) });
export const createdKeyBody = keyBody
  .pick({ key_id: true, name: true, prefix: true, created_at: true, expires_at: true })
  .extend({ key: z.string() });
type KeyBody = z.output<typeof keyBody>;
type CreatedKeyBody = z.output<typeof createdKeyBody>;

/**
 * `POST /v1/keys`: the answer is the only place where the key's value ever is. A team's keys are made one after
 * the other, so that its limit holds in each instance; instances that make one at the same moment may pass it by one
 * each.
 */
export async function createKey(
  body: unknown,
  { principal, gone }: { readonly principal: Principal; readonly gone: AbortSignal },
  service: HttpService,
): Promise<Answer> {
  const checked = checkFields(createKeyBody, body === undefined ? {} : body);
  if ('errors' in checked) return answers.invalid(checked.errors);
  const { name, expires_at: expiresAtText } = checked.value;
  const expiresAt = expiresAtText == null ? null : new Date(expiresAtText);
  const wrong = expiryError(expiresAt, principal, service.now());
  if (wrong !== undefined) return answers.invalid([wrong]);
  const create = async () =>
    (await refusedByLimit(principal, service)) ?? makeKey({ name, expiresAt }, principal, service);
  return (await service.keyCreations.take(principal.teamId, gone, create)) ?? answers.unavailable;
}

async function refusedByLimit(
  { teamId }: Principal,
  { pool, config, freshness, now }: HttpService,
): Promise<Answer | undefined> {
  if ((await freshness.check('team.events', String(teamId))) === 'behind') return answers.catchingUp;
  const most = config.MAX_KEYS_PER_TEAM;
  return (await countActiveKeys(pool, teamId, now())) < most ? undefined : answers.tooManyKeys(most);
}

async function makeKey(
  { name, expiresAt }: { readonly name: string; readonly expiresAt: Date | null },
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const key = newApiKey();
  const keyId = randomUUID();
  const value = {
    ...keyCommandEnvelope(principal, service),
    key_id: keyId,
    name,
    prefix: apiKeyPrefix(key),
    key_hash: hashApiKey(key),
    expires_at: expiresAt?.getTime() ?? null,
  };
  const outcome = await submit({ name: 'CreateApiKey', value }, service);
  if ('answer' in outcome) return outcome.answer;
  const created: CreatedKeyBody = {
    key_id: keyId,
    name,
    prefix: value.prefix,
    key,
    expires_at: expiresAt?.toISOString() ?? null,
    created_at: new Date(outcome.reply.decided_at).toISOString(),
  };
  return answers.created(created);
}

/** `GET /v1/keys`: the team's keys. */
export async function listKeys(principal: Principal, service: HttpService): Promise<Answer> {
  const freshness = await service.freshness.check('team.events', String(principal.teamId));
  if (freshness === 'behind') return answers.catchingUp;
  const rows = await listApiKeys(service.pool, principal.teamId);
  return answers.ok({ keys: rows.map((row) => keyRecord(row, service.now())) });
}

/** `DELETE /v1/keys/{key_id}`: for good; doing it again changes nothing. */
export async function revokeKey(
  keyIdText: string,
  principal: Principal,
  service: HttpService,
): Promise<Answer> {
  const keyId = keyIdText.toLowerCase();
  if (!isUuid(keyId)) return answers.keyNotFound;
  const value = { ...keyCommandEnvelope(principal, service), key_id: keyId };
  const outcome = await submit({ name: 'RevokeApiKey', value }, service);
  if ('answer' in outcome) return outcome.answer;
  // Here it holds from now on; the other instances read the same log.
  service.revokedKeys.note(keyId);
  const row = await findApiKey(service.pool, keyId);
  const revokedAt = row?.revokedAt ?? revokedBy(outcome.reply);
  if (row === undefined || revokedAt === undefined) return answers.catchingUp;
  return answers.ok(keyRecord({ ...row, revokedAt }, service.now()));
}

/** When this command revoked the key; undefined when an earlier one did. */
const revokedBy = ({ positions, decided_at: decidedAt }: CommandReply): Date | undefined =>
  positions.length === 0 ? undefined : new Date(decidedAt);

const keyCommandEnvelope = (principal: Principal, service: HttpService) =>
  commandEnvelope({ teamId: principal.teamId, actor: `key:${principal.keyId}`, now: service.now() });

async function submit(
  command: Command,
  service: HttpService,
): Promise<Readonly<{ reply: CommandReply }> | Readonly<{ answer: Answer }>> {
  let reply: CommandReply;
  try {
    reply = await service.ledger.submit(command);
  } catch (error) {
    if (!(error instanceof LedgerUnavailable)) throw error;
    return { answer: answers.changeUnknown };
  }
  if (reply.outcome === 'refused') return { answer: refusedChange(reply) };
  await service.watch.waitFor(reply.positions, READ_YOUR_WRITES_LIMIT_MS);
  return { reply };
}

function refusedChange(reply: CommandReply): Answer {
  if (reply.refusal === 'ApiKeyNotFound') return answers.keyNotFound;
  if (reply.refusal === 'ApiKeyRevoked') return answers.invalidKey;
  if (reply.refusal === 'DeadlinePassed') return answers.notCharged;
  throw new Error(`The ledger refused a checked request: ${reply.refusal}.`);
}

function expiryError(expiresAt: Date | null, principal: Principal, now: Date): FieldError | undefined {
  if (expiresAt !== null && expiresAt.getTime() <= now.getTime())
    return fieldError(['expires_at'], expiryRule);
  const latest = principal.keyExpiresAt;
  if (latest === null || (expiresAt !== null && expiresAt.getTime() <= latest.getTime())) return undefined;
  const rule = `must not be later than ${latest.toISOString()}, when the key that makes this request expires`;
  return fieldError(['expires_at'], rule);
}

function keyRecord(row: ApiKeyRow, now: Date): KeyBody {
  return {
    key_id: row.keyId,
    name: row.name,
    prefix: row.prefix,
    status: keyStatus(row, now),
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
  };
}

/** Revoked goes before expired, as when a key is used. */
export function keyStatus(row: Pick<ApiKeyRow, 'expiresAt' | 'revokedAt'>, now: Date): KeyBody['status'] {
  if (row.revokedAt !== null) return 'revoked';
  return row.expiresAt !== null && row.expiresAt.getTime() <= now.getTime() ? 'expired' : 'active';
}
