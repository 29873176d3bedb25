import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dropReadModel } from '#infra/postgres/drop-read-model.ts';
import { until } from '#test/stack/poll.ts';
import { busyHistory, History } from '#test/unit/projector/history.ts';
import { seededRandom } from '#test/unit/projector/seeded-random.ts';
import { openProjectorTenant, type ProjectorTenant } from './projector-tenant.ts';
import { dumpReadModel } from './read-model-dump.ts';
import { type RunningProjector, startProjector, untilProjected } from './running-projectors.ts';

let tenant: ProjectorTenant;
let running: RunningProjector[] = [];

beforeAll(async () => {
  tenant = await openProjectorTenant();
});

afterEach(async () => {
  await Promise.all(running.map((projector) => projector.stop()));
  running = [];
});

afterAll(() => tenant?.close());

function start(): RunningProjector {
  const projector = startProjector(tenant);
  running.push(projector);
  return projector;
}

const untilReady = (projector: RunningProjector) =>
  until('the projector is ready', 30_000, () => projector.status.readiness().ready || undefined);

async function countOf(table: string): Promise<number> {
  const { rows } = await tenant.pool.query<{ count: number }>(
    `SELECT count(*) AS count FROM read_model.${table}`,
  );
  return rows[0]?.count ?? 0;
}

const history = busyHistory(11, { teams: 8, jobs: 600 });
const half = Math.floor(history.records.length / 2);

describe('projectors on a log', () => {
  test('two that start at once make the tables and share the partitions', async () => {
    await tenant.append(history.records.slice(0, half));
    const projectors = [start(), start()];
    for (const projector of projectors) await untilReady(projector);
    await untilProjected(tenant);
    expect(await countOf('teams')).toBe(8);
  });

  test('a third joins, one leaves, and no event is lost or counted twice', async () => {
    const first = start();
    start();
    await untilReady(first);
    const appended = tenant.append(history.records.slice(half));
    const third = start();
    await untilReady(third);
    await first.stop();
    await appended;
    await untilProjected(tenant);
    expect(await countOf('jobs')).toBe(600);
    const { rows } = await tenant.pool.query<{ sum: number }>(
      'SELECT sum(balance_cents)::bigint AS sum FROM read_model.wallets',
    );
    const teams = Array.from({ length: 8 }, (_, index) => history.balanceCents(index + 1));
    expect(rows[0]?.sum).toBe(teams.reduce((sum, cents) => sum + cents));
  });

  test('a rebuild gives the same rows, and team ids go on after the last one', async () => {
    const before = await dumpReadModel(tenant.pool);
    await untilReady(start());
    await tenant.pool.query(`SELECT setval('service.team_ids', 1, false)`);
    await dropReadModel(tenant.pool);
    await until('the tables are there again', 30_000, async () => (await countOf('teams')) >= 0 || undefined);
    await untilProjected(tenant);
    expect(await dumpReadModel(tenant.pool)).toEqual(before);
    const { rows } = await tenant.pool.query<{ id: number }>(`SELECT nextval('service.team_ids') AS id`);
    expect(rows[0]?.id).toBe(9);
  });

  test('lost connections to the database are healed, with the same rows in the end', async () => {
    const projector = start();
    await untilReady(projector);
    const more = new History(seededRandom(12));
    more.openTeam(100, 1_000);
    for (let topUp = 0; topUp < 2_000; topUp++) more.topUp(100, 500);
    const appended = tenant.append(more.records);
    for (let cut = 0; cut < 5; cut++) {
      await tenant.pool.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    }
    await appended;
    await untilProjected(tenant);
    await untilReady(projector);
    const { rows } = await tenant.pool.query<{ balance_cents: number }>(
      'SELECT balance_cents FROM read_model.wallets WHERE team_id = 100',
    );
    expect(rows[0]?.balance_cents).toBe(1_000 + 2_000 * 500);
  });

  test('a position beyond the end of the log is refused, and going on starts when it is right again', async () => {
    const move = (by: number) =>
      tenant.pool.query(
        `UPDATE read_model.projection_positions SET next_offset = next_offset + $1
         WHERE topic = 'wallet.events' AND partition = 0`,
        [by],
      );
    await move(1_000_000);
    const projector = start();
    await until(
      'the projector says why it is not ready',
      30_000,
      () =>
        projector.status
          .readiness()
          .reasons.some((reason) => /wallet\.events\/0 .* the log ends at/.test(reason)) || undefined,
    );
    expect(projector.status.readiness().ready).toBe(false);
    await move(-1_000_000);
    await untilReady(projector);
  });

  test('a record that cannot be read stops its partition, says so, and lets the others go on', async () => {
    const unreadable = { topic: 'job.events', key: 'a', value: Buffer.from('?'), eventId: '' } as const;
    const projector = start();
    await untilReady(projector);
    await tenant.append([unreadable]);
    await until(
      'the projector names the record',
      30_000,
      () =>
        projector.status
          .readiness()
          .reasons.some((reason) => /job\.events\/\d offset \d+ cannot become rows/.test(reason)) ||
        undefined,
    );
    const more = new History(seededRandom(13));
    more.openTeam(200, 700);
    await tenant.append(more.records);
    await until('another partition goes on', 30_000, async () => {
      const { rows } = await tenant.pool.query('SELECT FROM read_model.wallets WHERE team_id = 200');
      return rows.length === 1 || undefined;
    });
  });
});
