import { expect, test } from 'vitest';
import { firstVersion, signingVersions, teamSecret } from '#api/webhooks/team-secrets.ts';

const masterKey = Buffer.alloc(32, 7);
const hour = (count: number) => new Date(count * 3_600_000);
const versionsAt = (now: Date, ...rotations: { version: string; rotatedAt: Date }[]) =>
  signingVersions(1, rotations, now).map(({ version }) => version);

test('a secret is its own for each team, version and master key, and the same every time', () => {
  const secrets = [
    teamSecret(masterKey, 1, 'a'),
    teamSecret(masterKey, 2, 'a'),
    teamSecret(masterKey, 1, 'b'),
    teamSecret(Buffer.alloc(32, 8), 1, 'a'),
  ].map((secret) => secret.toString('hex'));
  expect(new Set(secrets).size).toBe(4);
  expect(secrets.every((secret) => secret.length === 64)).toBe(true);
  expect(teamSecret(masterKey, 1, 'a').toString('hex')).toBe(secrets[0]);
  // Receivers keep these: a change here would cut them all off.
  expect(firstVersion(1)).toBe('5deb1a40-2e00-58ae-b9cd-f20f5a92134a');
  expect(secrets[0]).toBe('f912e3cf04f074ea323f36a7120ef79f78972d62b5aefc4e4ad2006c7fdeaa83');
});

test('before any rotation the first version alone signs', () => {
  expect(signingVersions(1, [], hour(0))).toEqual([{ version: firstVersion(1), validUntil: null }]);
});

test('after a rotation both sign for 24 hours, then the new one alone', () => {
  const rotation = { version: 'b', rotatedAt: hour(100) };
  expect(signingVersions(1, [rotation], hour(123.9))).toEqual([
    { version: 'b', validUntil: null },
    { version: firstVersion(1), validUntil: hour(124) },
  ]);
  expect(versionsAt(hour(124), rotation)).toEqual(['b']);
});

test('each version signs for 24 hours after it was replaced', () => {
  const [first, second] = [
    { version: 'b', rotatedAt: hour(100) },
    { version: 'c', rotatedAt: hour(110) },
  ] as const;
  expect(versionsAt(hour(111), second, first)).toEqual(['c', 'b', firstVersion(1)]);
  expect(versionsAt(hour(125), second, first)).toEqual(['c', 'b']);
  expect(versionsAt(hour(134), second, first)).toEqual(['c']);
});

test('however often a secret is rotated, five signatures are the most', () => {
  const rotations = Array.from({ length: 20 }, (_, index) => ({
    version: `v${20 - index}`,
    rotatedAt: hour(1),
  }));
  expect(versionsAt(hour(2), ...rotations)).toEqual(['v20', 'v19', 'v18', 'v17', 'v16']);
  expect(versionsAt(hour(2), ...rotations.slice(0, 5))).toEqual(['v20', 'v19', 'v18', 'v17', 'v16']);
});
