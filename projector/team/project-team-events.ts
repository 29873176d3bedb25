import type pg from 'pg';
import type { Named } from '#schemas/codec.ts';
import type { RecordTypes, TeamRecords } from '#schemas/records.ts';
import { splitByCreation } from '../split-by-creation.ts';
import { insertApiKeys, insertRotations, insertTeams, passTeamId, revokeApiKeys } from './team-statements.ts';

type KeyEntry =
  | Readonly<{ created: RecordTypes['ApiKeyCreated'] }>
  | Readonly<{ event: RecordTypes['ApiKeyRevoked'] }>;

/** Writes the rows of teams, API keys and the versions of webhook secrets. `events` are in the order of their partitions. */
export async function projectTeamEvents(
  client: pg.ClientBase,
  events: readonly Named<TeamRecords>[],
): Promise<void> {
  const teams: RecordTypes['TeamCreated'][] = [];
  const keys: KeyEntry[] = [];
  const rotations: RecordTypes['WebhookSecretRotated'][] = [];
  for (const event of events) {
    if (event.name === 'TeamCreated') teams.push(event.value);
    else if (event.name === 'ApiKeyCreated') keys.push({ created: event.value });
    else if (event.name === 'ApiKeyRevoked') keys.push({ event: event.value });
    else if (event.name === 'WebhookSecretRotated') rotations.push(event.value);
  }
  if (teams.length > 0) {
    await insertTeams(client, teams);
    await passTeamId(client, Math.max(...teams.map((team) => team.team_id)));
  }
  if (rotations.length > 0) await insertRotations(client, rotations);
  const keyId = (event: { readonly key_id: string }) => event.key_id;
  const { early, created, later } = splitByCreation(keys, { created: keyId, event: keyId });
  if (early.length > 0) await revokeApiKeys(client, early);
  if (created.length > 0) await insertApiKeys(client, created);
  if (later.length > 0) await revokeApiKeys(client, later);
}
