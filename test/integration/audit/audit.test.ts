import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openProjectorTenant, type ProjectorTenant } from '#test/integration/projector/projector-tenant.ts';
import { startProjector, untilProjected } from '#test/integration/projector/running-projectors.ts';
import { forgeries } from '#test/unit/projector/forged-histories.ts';
import { busyHistory } from '#test/unit/projector/history.ts';
import { audit } from './running-audit.ts';

let tenant: ProjectorTenant;
const history = busyHistory(21, { teams: 4, jobs: 200 });
/** In the middle of the log, between a job's request and its end; not between a charge and its job. */
const inFlight = history.records.findIndex(
  ({ topic }, index) => topic === 'job.progress' && index > history.records.length * 0.7,
);

beforeAll(async () => {
  tenant = await openProjectorTenant();
  await tenant.append(history.records.slice(0, inFlight));
  const projector = startProjector(tenant);
  await untilProjected(tenant);
  await projector.stop();
});

afterAll(() => tenant?.close());

describe('audit verify', () => {
  test('finds a good log and its rows right, with jobs in flight', async () => {
    const { exitCode, json } = await audit(tenant.env, 'verify');
    expect(json()).toMatchObject({ ok: true, teams: 4, postgres: 'compared', faults: [] });
    expect(exitCode).toBe(0);
  });

  test('compares the rows at the projector’s positions when the log is further', async () => {
    await tenant.append(history.records.slice(inFlight));
    const { exitCode, json } = await audit(tenant.env, 'verify');
    const teams = [1, 2, 3, 4];
    expect(json()).toMatchObject({
      ok: true,
      postgres: 'compared',
      balance_cents: teams.reduce((sum, teamId) => sum + history.balanceCents(teamId), 0),
    });
    expect(exitCode).toBe(0);
  });

  test.each([
    [
      'a balance',
      'UPDATE read_model.wallets SET balance_cents = balance_cents + 1 WHERE team_id = 2',
      /wallets of team 2/,
    ],
    ['a hash', `UPDATE read_model.wallets SET hash = '\\x00' WHERE team_id = 1`, /wallets of team 1/],
    [
      'an amount',
      'UPDATE read_model.wallet_transactions SET amount_cents = -1 WHERE team_id = 3 AND seq = 4',
      /wallet_transactions, seq 4 of team 3/,
    ],
    [
      'a missing transaction',
      'DELETE FROM read_model.wallet_transactions WHERE team_id = 3 AND seq = 5',
      /seq 5 of team 3.* is missing/,
    ],
    [
      'an invented transaction',
      `INSERT INTO read_model.wallet_transactions SELECT team_id, 999999, gen_random_uuid(), type, amount_cents, balance_after_cents, job_id, clip_id, debit_id, item, item_count, clip_id_step, reference, reason, actor, occurred_at FROM read_model.wallet_transactions WHERE team_id = 4 AND seq = 1`,
      /wallet_transactions of team 4/,
    ],
    [
      'a missing wallet',
      'DELETE FROM read_model.wallets WHERE team_id = 4',
      /wallets of team 4.* is missing/,
    ],
    ['a key that came back', 'UPDATE read_model.api_keys SET revoked_at = NULL', /key\/.*revoked/],
    [
      'an invented key',
      `INSERT INTO read_model.api_keys SELECT gen_random_uuid(), 1, 'x', 'x', '\\x01', NULL, now(), NULL`,
      /Postgres has key\//,
    ],
    [
      'a job’s status',
      `UPDATE read_model.jobs SET status = 'processing' WHERE job_id = (SELECT job_id FROM read_model.jobs WHERE status = 'completed' ORDER BY job_id LIMIT 1)`,
      /job .*completed/,
    ],
    [
      'a clip’s settlement',
      `UPDATE read_model.clips SET settlement = 'captured' WHERE clip_id = (SELECT min(clip_id) FROM read_model.clips WHERE settlement = 'refunded')`,
      /refunded/,
    ],
    [
      'a face swap’s settlement',
      `UPDATE read_model.swaps SET settlement = 'captured' WHERE job_id = (SELECT min(job_id::text)::uuid FROM read_model.swaps WHERE settlement = 'refunded')`,
      /swap \(fullbody\) of .*refunded/,
    ],
    [
      'a face swap’s end',
      `UPDATE read_model.swaps SET status = 'completed' WHERE job_id = (SELECT min(job_id::text)::uuid FROM read_model.swaps WHERE status = 'failed')`,
      /swap \(fullbody\) of .*failed/,
    ],
    [
      'a failed face swap’s job',
      `UPDATE read_model.jobs SET status = 'completed' WHERE job_id = (SELECT min(job_id::text)::uuid FROM read_model.jobs WHERE status = 'failed')`,
      /job .* failed, 1 items for/,
    ],
    [
      'an invented face swap',
      `INSERT INTO read_model.swaps (job_id, mode, duration_seconds, status) VALUES (gen_random_uuid(), 'face', 1, 'processing')`,
      /Postgres has job/,
    ],
    [
      'a position beyond the log',
      `UPDATE read_model.projection_positions SET next_offset = next_offset + 100000 WHERE topic = 'wallet.events' AND partition = 0`,
      /the log ends here/,
    ],
  ])('names %s that was changed in Postgres', async (_, sql, says) => {
    // CREATE TABLE … AS keeps what is restored after: the rows must not be made by a rebuild here.
    const tables = [
      'wallets',
      'wallet_transactions',
      'api_keys',
      'jobs',
      'clips',
      'swaps',
      'projection_positions',
    ];
    for (const table of tables)
      await tenant.pool.query(`CREATE TABLE public.kept_${table} AS TABLE read_model.${table}`);
    try {
      await tenant.pool.query(sql);
      const { exitCode, json, error } = await audit(tenant.env, 'verify');
      expect(json().faults[0].problem).toMatch(says);
      expect(json().faults[0].remedy).not.toBe('');
      expect(error).toContain(json().faults[0].problem);
      expect(exitCode).toBe(1);
    } finally {
      for (const table of tables) {
        await tenant.pool.query(`TRUNCATE read_model.${table}`);
        await tenant.pool.query(`INSERT INTO read_model.${table} TABLE public.kept_${table}`);
        await tenant.pool.query(`DROP TABLE public.kept_${table}`);
      }
    }
  });

  test('says where nothing runs that there is nothing to read', async () => {
    const { DATA_DIR = '' } = tenant.env;
    const { exitCode, error } = await audit({ DATA_DIR }, 'verify');
    expect(error).toContain('No service is running');
    expect(exitCode).toBe(3);
  });

  test('says that Postgres cannot be read, and checks the log alone when told to', async () => {
    const env = { ...tenant.env, DATABASE_URL: 'postgres://nobody:nothing@127.0.0.1:1/nowhere' };
    const failed = await audit(env, 'verify');
    expect(failed.error).toContain('--kafka-only');
    expect(failed.exitCode).toBe(3);
    const alone = await audit(env, 'verify', '--kafka-only');
    expect(alone.json()).toMatchObject({ ok: true, postgres: 'not compared' });
    expect(alone.exitCode).toBe(0);
  });
});

describe('audit verify on a forged log', () => {
  const onKafka = ['altered', 'gap', 'negative', 'unpaired'].map((kind) => {
    const forgery = forgeries.find((candidate) => candidate.kind === kind);
    if (forgery === undefined) throw new Error(`There is no forgery of the kind ${kind}.`);
    return [forgery.what, forgery] as const;
  });

  test.each(onKafka)('names %s with its place', async (_, forgery) => {
    const forged = await openProjectorTenant();
    try {
      await forged.append(forgery.records);
      const { exitCode, json } = await audit(forged.env, 'verify', '--kafka-only');
      const [first] = json().faults;
      expect(first).toMatchObject({ kind: forgery.kind, event_id: forgery.eventId });
      const record = forgery.records.find(({ eventId }) => eventId === forgery.eventId);
      expect(first.topic).toBe(record?.topic);
      expect(first.offset).toBeGreaterThanOrEqual(0);
      expect(exitCode).toBe(1);
    } finally {
      await forged.close();
    }
  });
});

describe('audit wallet', () => {
  const withoutPostgres = () => {
    const { DATABASE_URL: _, ...env } = tenant.env;
    return env;
  };

  test('replays a wallet from Kafka alone, with the balance on each line', async () => {
    const { exitCode, json } = await audit(withoutPostgres(), 'wallet', '--team', '2');
    const statement = json();
    let balance = 0;
    for (const line of statement.lines) {
      balance += line.amount_cents;
      expect(line.balance_cents).toBe(balance);
    }
    expect(statement).toMatchObject({
      team_id: 2,
      balance_cents: history.balanceCents(2),
      active: true,
      fault: null,
    });
    expect(statement.topped_up_cents - statement.debited_cents + statement.refunded_cents).toBe(balance);
    expect(statement.captured_cents).toBeGreaterThan(0);
    expect(exitCode).toBe(0);
  });

  test('ends at a point in time', async () => {
    const whole = (await audit(withoutPostgres(), 'wallet', '--team', '1')).json();
    const { occurred_at: asOf } = whole.lines[9];
    const { json } = await audit(withoutPostgres(), 'wallet', '--team', '1', '--as-of', asOf);
    expect(json().lines).toEqual(whole.lines.slice(0, 10));
    expect(json().balance_cents).toBe(whole.lines[9].balance_cents);
  });

  test('writes CSV and a table of the same lines', async () => {
    const { lines } = (await audit(withoutPostgres(), 'wallet', '--team', '3')).json();
    const csv = (await audit(withoutPostgres(), 'wallet', '--team', '3', '--format', 'csv')).out;
    expect(csv.trimEnd().split('\r\n')).toHaveLength(lines.length + 1);
    const table = (await audit(withoutPostgres(), 'wallet', '--team', '3', '--format', 'table')).out;
    expect(table).toContain(`the chain of ${lines.length} events is whole`);
  });

  test('says that a team has no wallet', async () => {
    const { exitCode, error } = await audit(withoutPostgres(), 'wallet', '--team', '77');
    expect(error).toContain('Team 77 has no wallet');
    expect(exitCode).toBe(4);
  });

  test('says that Kafka cannot be reached', async () => {
    const env = { ...withoutPostgres(), KAFKA_BROKERS: '127.0.0.1:1' };
    const { exitCode, error } = await audit(env, 'wallet', '--team', '1');
    expect(error).toMatch(/Kafka/);
    expect(exitCode).toBe(3);
  });
});
