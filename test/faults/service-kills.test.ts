import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { createLogger } from '#infra/log.ts';
import { locateMediaTools } from '#infra/media/media-tools.ts';
import { type SeededRandom, seededRandom } from '#test/seeded-random.ts';
import { runCommand, runJson } from '#test/stack/command.ts';
import { type MediaServer, startMediaServer } from '#test/stack/media-server.ts';
import type { PlatformPart } from '#test/stack/platform.ts';
import { killPart, startPart } from '#test/stack/platform-control.ts';
import { until } from '#test/stack/poll.ts';
import { logTail, type Role } from '#test/stack/role.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant, type Tenant } from '#test/stack/tenant.ts';
import { useOwnPlatform } from '#test/stack/use-platform.ts';
import { type Client, CreateStream } from './create-stream.ts';
import { faultSeconds, faultSeed } from './fault-budget.ts';
import { type LoggedMoney, readLoggedMoney } from './logged-money.ts';

/** Everything is killed once a round, each in the middle of a stream of creates; one round at least. */
const apiInstances = 2;
const teamCount = 2;
const topUpCents = 1_000_000;
/** One create in this many gets a source that exists; all others fail and are refunded. */
const goodSourceEvery = 25;
const goodPath = '/tiny.mp4';

type Victim = Readonly<{ role: Role; index: number }> | Readonly<{ part: PlatformPart }>;

const victims: readonly Victim[] = [
  { role: 'api', index: 0 },
  { role: 'api', index: 1 },
  { role: 'projector', index: 0 },
  { role: 'workers', index: 0 },
  { part: 'kafka' },
  { part: 'postgres' },
  { part: 's3' },
];

const random = seededRandom(faultSeed);
let folder: string;
let tenant: Tenant;
let media: MediaServer;
let service: RunningService;
let clients: readonly Client[];
let kafka: KafkaConnection;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clipledger-faults-'));
  tenant = await createTenant(await useOwnPlatform());
  media = await startMediaServer(tenant.platform, { [goodPath]: await makeTinyVideo(folder) });
  const env = { EGRESS_ALLOW: media.egressAllow, RATE_LIMIT_PER_MINUTE: '1000000', WORKER_CONCURRENCY: '4' };
  service = await startService(tenant, { api: apiInstances, projector: 1, workers: 1, env });
  const config = parseConfig({ LOG_LEVEL: 'silent', ...tenant.env });
  kafka = connectKafka(config, { clientId: 'faults-test', log: createLogger(config, 'test') });
  clients = await Promise.all(Array.from({ length: teamCount }, (_, index) => makeClient(index)));
});

afterAll(async () => {
  await service?.stop();
  await media?.close();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

/** Two seconds of a test picture and a tone: the cheapest clip there is. */
async function makeTinyVideo(inFolder: string): Promise<string> {
  const { ffmpegPath } = await locateMediaTools({}, process.env['PATH'] ?? '');
  const path = join(inFolder, 'tiny.mp4');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=size=320x180:rate=15:duration=2'];
  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2'];
  const format = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
  await promisify(execFile)(ffmpegPath, ['-v', 'error', ...picture, ...tone, ...format, path]);
  return path;
}

/** A team with money and a key, made as an operator makes it. */
async function makeClient(index: number): Promise<Client> {
  const admin = (...args: readonly string[]) => runJson(tenant, 'admin', args);
  const team = await admin('team', 'create', '--name', `Faults ${index}`);
  const teamId = (team as { team_id: number }).team_id;
  const of = ['--team', String(teamId)];
  await admin('billing', 'activate', ...of);
  await admin('wallet', 'top-up', ...of, '--cents', String(topUpCents), '--reference', `faults-${index}`);
  const key = await admin('key', 'create', ...of, '--name', 'stream');
  return { teamId, apiKey: (key as { key: string }).key };
}

function startStream(): CreateStream {
  let count = 0;
  const nextBody = () => {
    count += 1;
    const path = count % goodSourceEvery === 1 ? goodPath : `/missing-${count}.mp4`;
    return { video_url: media.url(path), num_clips: 1 + (count % 2), camera_mode: 'center-crop' };
  };
  const baseUrls = () => service.baseUrls;
  return new CreateStream({ clients, baseUrls, nextBody, random, callers: 2, pauseMs: 600 });
}

/** kill -9 at a moment that nobody chose, and a new start some time after. */
async function killAndRestart(victim: Victim): Promise<void> {
  await delay(500 + random() * 1_500);
  if ('role' in victim) await service.kill(victim.role, victim.index);
  else await killPart(tenant.platform, victim.part);
  await delay(random() * 1_500);
  if ('role' in victim) await service.restart(victim.role, victim.index);
  else await startPart(tenant.platform, victim.part);
}

function shuffled(items: readonly Victim[], by: SeededRandom): readonly Victim[] {
  return items
    .map((item) => ({ item, order: by() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** Waits until every item that was paid for is settled, so that nothing is under way any more; as long as any is. */
async function untilSettled(stalledLimitMs: number): Promise<LoggedMoney> {
  let fewest = Number.POSITIVE_INFINITY;
  let progressAtMs = performance.now();
  for (;;) {
    const money = await readLoggedMoney(kafka);
    const open = unsettledItems(money);
    if (open.length === 0) return money;
    if (open.length < fewest) progressAtMs = performance.now();
    fewest = Math.min(fewest, open.length);
    if (performance.now() - progressAtMs > stalledLimitMs) {
      const some = `${open.slice(0, 20).join(', ')}${open.length > 20 ? ' …' : ''}`;
      throw new Error(
        `Nothing was settled for ${stalledLimitMs / 1_000} s, and ${open.length} are open: ${some}`,
      );
    }
    await delay(1_000);
  }
}

function unsettledItems(money: LoggedMoney): readonly string[] {
  return [...money.debits].flatMap(([jobId, debits]) =>
    debits.flatMap((debit) =>
      Array.from({ length: debit.item_count }, (_, item) => item)
        .filter((item) => !money.settlements.has(`${debit.event_id}/${item}`))
        .map((item) => `${jobId}/${item} (${money.ends.get(`${jobId}/${item}`)?.name ?? 'not ended'})`),
    ),
  );
}

const acceptedAfter = async (stream: CreateStream, count: number) =>
  until('creates are accepted again', 90_000, () => (stream.accepted.length >= count ? true : undefined));

test(
  `after kill -9 of everything in the middle of creates, no cent is wrong (seed ${faultSeed})`,
  async () => {
    onTestFailed(printLogs);
    const stream = startStream();
    const startedMs = performance.now();
    do {
      for (const victim of shuffled(victims, random)) {
        await killAndRestart(victim);
        await acceptedAfter(stream, stream.accepted.length + 5);
      }
    } while (performance.now() - startedMs < faultSeconds * 1_000);
    await stream.stop();
    const money = await untilSettled(120_000);

    expect(stream.surprises).toEqual([]);
    expect(money.faults).toEqual([]);
    expectOnePaymentForEach(stream, money);
    expectOneSettlementForEach(money);
    expectGoodSourcesToBecomeClips(money);
    await expectReadModelToAgree(money);
  },
  600_000 + faultSeconds * 1_000,
);

/** The end of what each process last said: a failure here can seldom be repeated at will. */
async function printLogs(): Promise<void> {
  for (const victim of victims) {
    if (!('role' in victim)) continue;
    const log = await service.log(victim.role, victim.index);
    process.stderr.write(`\n--- ${victim.role} ${victim.index}\n${logTail(log)}\n`);
  }
}

function expectOnePaymentForEach(stream: CreateStream, money: LoggedMoney): void {
  const jobs = stream.accepted.map(({ jobId }) => jobId).sort();
  expect(new Set(jobs).size).toBe(jobs.length);
  // No ghosts either: every create was repeated until it was accepted.
  expect([...money.debits.keys()].sort()).toEqual(jobs);
  expect([...money.requests.keys()].sort()).toEqual(jobs);
  for (const { jobId, costCents, teamId } of stream.accepted) {
    expect(money.debits.get(jobId)).toMatchObject([{ amount_cents: costCents, team_id: teamId }]);
    expect(money.requests.get(jobId)).toHaveLength(1);
  }
}

/** Outages are waited out: what could be made was made. */
function expectGoodSourcesToBecomeClips(money: LoggedMoney): void {
  const good = [...money.requests].filter(
    ([, [request]]) => request?.clip?.video_url === media.url(goodPath),
  );
  expect(good.length).toBeGreaterThan(0);
  for (const [jobId] of good) expect(money.ends.get(`${jobId}/0`)).toMatchObject({ name: 'ClipCompleted' });
}

function expectOneSettlementForEach(money: LoggedMoney): void {
  let failed = 0;
  for (const [jobId, [debit]] of money.debits) {
    for (let item = 0; item < (debit?.item_count ?? 0); item += 1) {
      const end = money.ends.get(`${jobId}/${item}`)?.name;
      const expected = end === 'ClipFailed' ? 'WalletRefunded' : 'ChargeCaptured';
      expect(end).toBeDefined();
      expect(money.settlements.get(`${debit?.event_id}/${item}`)).toEqual([expected]);
      if (end === 'ClipFailed') failed += 1;
    }
  }
  expect(failed).toBeGreaterThan(0);
  expect(failed).toBeLessThan(money.ends.size);
}

async function expectReadModelToAgree(money: LoggedMoney): Promise<void> {
  for (const { teamId, apiKey } of clients) {
    const replayed = money.wallets.get(teamId);
    if (replayed?.status !== 'open') throw new Error(`Team ${teamId} has no wallet in the log.`);
    await until(`the wallet of team ${teamId} is projected`, 30_000, async () => {
      const response = await fetch(`${service.baseUrls[0]}/v1/wallet`, { headers: { 'x-api-key': apiKey } });
      const wallet = await response.json();
      expect(wallet).toMatchObject({
        balance_cents: replayed.balanceCents,
        total_topped_up_cents: topUpCents,
        total_spent_cents: replayed.debitedCents - replayed.refundedCents,
      });
      return true;
    });
  }
  const { exitCode, stdout, stderr } = await runCommand(tenant, 'audit', ['verify']);
  expect({ exitCode, output: exitCode === 0 ? '' : stdout + stderr }).toEqual({ exitCode: 0, output: '' });
}
