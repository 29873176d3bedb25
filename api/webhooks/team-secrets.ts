import { createHmac } from 'node:crypto';
import { derivedUuid } from '#schemas/ids.ts';

/**
 * A team's webhook secrets. None is stored anywhere: each follows from the master key, the team and a
 * version, and the log holds versions alone.
 */

/** Never change it: the secret of every team that has not rotated its own derives from it. */
const NAMESPACE = 'd5a0b7c2-5a0e-5b52-9c55-6f1f0e9a7f1d';

const HOUR_MS = 3_600_000;
/** How long a replaced secret goes on signing beside its successor, so that receivers can change over. */
export const OVERLAP_MS = 24 * HOUR_MS;
/** So many signatures at most: somebody who rotates all day must not outgrow what servers take as headers. */
const MOST_SIGNATURES = 5;

/** A version that a team's secret was given, and when. */
export type Rotation = Readonly<{ version: string; rotatedAt: Date }>;

export type SigningVersion = Readonly<{
  version: string;
  /** Until when it signs; null for the newest, which nothing has replaced. */
  validUntil: Date | null;
}>;

/** The version that a team has before any rotation. */
export const firstVersion = (teamId: number): string => derivedUuid(NAMESPACE, `team:${teamId}`);

/** The versions whose secrets sign at `now`, newest first. `rotations` are the team's newest, newest first. */
export function signingVersions(
  teamId: number,
  rotations: readonly Rotation[],
  now: Date,
): readonly [SigningVersion, ...SigningVersion[]] {
  const [newest] = rotations;
  if (newest === undefined) return [{ version: firstVersion(teamId), validUntil: null }];
  const replaced = rotations.map(({ rotatedAt }, index) => ({
    version: rotations[index + 1]?.version ?? firstVersion(teamId),
    validUntil: new Date(rotatedAt.getTime() + OVERLAP_MS),
  }));
  const overlapping = replaced.filter(({ validUntil }) => validUntil.getTime() > now.getTime());
  return [{ version: newest.version, validUntil: null }, ...overlapping.slice(0, MOST_SIGNATURES - 1)];
}

/** How many of a team's newest rotations `signingVersions` has to know. */
export const ROTATIONS_TO_KNOW = MOST_SIGNATURES;

/** The 32 bytes of a team's secret. */
export const teamSecret = (masterKey: Buffer, teamId: number, version: string): Buffer =>
  createHmac('sha256', masterKey).update(`webhook-secret:${teamId}:${version}`).digest();
