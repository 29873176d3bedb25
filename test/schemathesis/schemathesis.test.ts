import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiFixture, type ApiInstance, type Team } from '../integration/api-fixture.ts';

/**
 * schemathesis makes requests out of the document at /openapi.json, right ones and wrong ones, and holds the
 * answers to it: no 5xx, no status that is not documented, no body that does not fit its schema.
 * SCHEMATHESIS_EXAMPLES says how many of each operation it makes up, SCHEMATHESIS_SEED repeats a run.
 */

const examples = process.env['SCHEMATHESIS_EXAMPLES'] ?? '100';
const seed = process.env['SCHEMATHESIS_SEED'];
const settings = fileURLToPath(new URL('schemathesis.toml', import.meta.url));

let fixture: ApiFixture;
let api: ApiInstance;
let team: Team;
/** What schemathesis notes of a run goes where it runs. */
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clipledger-schemathesis-'));
  fixture = await ApiFixture.open({
    RATE_LIMIT_PER_MINUTE: '10000000',
    MAX_KEYS_PER_TEAM: '1000000',
    WEBHOOK_MASTER_KEY: 'a'.repeat(64),
  });
  api = await fixture.startApi();
  team = await fixture.createTeam({ cents: 1_000_000_000 });
});
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true, force: true });
});

test('every answer is as documented', async () => {
  const { exitCode, output } = await runSchemathesis([
    ...['--config-file', settings, '--no-color', 'run', `${api.url}/openapi.json`],
    ...['--header', `X-API-Key: ${team.key}`],
    ...['--phases', 'examples,coverage,fuzzing', '--max-examples', examples],
    ...['--continue-on-failure', '--workers', '2', '--suppress-health-check', 'all'],
    ...(seed === undefined ? [] : ['--seed', seed]),
  ]);
  process.stderr.write(output);
  expect(exitCode, 'Its report is above.').toBe(0);
});

function runSchemathesis(args: readonly string[]): Promise<{ exitCode: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(programPath(), args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, output }));
  });
}

/** The one that the set-up made, by the version that is pinned beside this file. */
function programPath(): string {
  const given = process.env['SCHEMATHESIS'];
  if (given !== undefined) return given;
  const requirements = readFileSync(new URL('requirements.txt', import.meta.url), 'utf8');
  const version = /^schemathesis==(\S+)$/m.exec(requirements)?.[1] ?? '';
  const path = fileURLToPath(
    new URL(`../../.data/lib/schemathesis-${version}/bin/schemathesis`, import.meta.url),
  );
  if (!existsSync(path))
    throw new Error('There is no schemathesis yet: run it by npm run test:schemathesis.');
  return path;
}
