import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiAnswer, ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { openTcpProxy, type TcpProxy } from '../tcp-proxy.ts';
import { type FormPart, file, mp4Like, text } from './form.ts';
import { postParts, UploadedObjects } from './upload-fixture.ts';

/** Forms under an Idempotency-Key: each job is paid once and has its files once. */

let fixture: ApiFixture;
let one: ApiInstance;
let other: ApiInstance;
let cutOff: ApiInstance;
let kafka: TcpProxy;
let team: Team;
let objects: UploadedObjects;

const video = mp4Like(200_000);

beforeAll(async () => {
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '100000' });
  const [host = '', port = ''] = (fixture.environment['KAFKA_BROKERS'] ?? '').split(',')[0]?.split(':') ?? [];
  kafka = await openTcpProxy({ host, port: Number(port) });
  // These two own the ledger's partitions when the third is cut off.
  [one, other] = await Promise.all([fixture.startApi(), fixture.startApi()]);
  cutOff = await fixture.startApi({}, () => ({ host: '127.0.0.1', port: kafka.port }));
  team = await fixture.createTeam({ cents: 100_000 });
  objects = new UploadedObjects(fixture.environment);
});
afterAll(async () => {
  objects?.close();
  await fixture?.close();
  await kafka?.close();
});

const send = (api: ApiInstance, idempotencyKey: string, ...parts: readonly FormPart[]): Promise<ApiAnswer> =>
  postParts(api, parts, { 'x-api-key': team.key, 'idempotency-key': idempotencyKey });

const isReplay = ({ headers }: ApiAnswer) => headers.get('idempotency-replayed') === 'true';
const jobOf = ({ body }: ApiAnswer) => String(body['job_id']);

async function debitsOf(jobIds: readonly string[]): Promise<number> {
  const { rows } = await fixture.pool.query(
    `SELECT count(*)::int AS count FROM read_model.wallet_transactions WHERE type = 'WalletDebited' AND job_id = ANY($1)`,
    [jobIds],
  );
  return rows[0].count as number;
}

describe('the same form again', () => {
  test('gets the first answer, whatever its files are called, and its own files are deleted', async () => {
    const first = await send(one, 'again', file('video', video, 'first.mp4'), text('length', '20'));
    const second = await send(other, 'again', text('length', '20'), file('video', video, 'second.mp4'));
    expect([first.status, isReplay(first), second.status, isReplay(second)]).toEqual([200, false, 200, true]);
    expect(second.body).toEqual(first.body);
    expect(await objects.keys()).toEqual([`uploads/${jobOf(first)}/video`]);
    expect(await debitsOf([jobOf(first)])).toBe(1);
    await objects.clear();
  });

  test('with another file is refused, and that file is deleted', async () => {
    const first = await send(one, 'other-file', file('video', video));
    const second = await send(one, 'other-file', file('video', mp4Like(200_001)));
    expect([first.status, second.status]).toEqual([200, 422]);
    expect(await objects.keys()).toEqual([`uploads/${jobOf(first)}/video`]);
    await objects.clear();
  });

  test('at two instances in the same moment is one job with one file', async () => {
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        [one, other, one, other].map((api) => send(api, `moment-${round}`, file('video', video))),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const [jobId = ''] = answers.map(jobOf);
      expect(new Set(answers.map(jobOf)).size).toBe(1);
      expect(answers.filter(isReplay)).toHaveLength(3);
      expect(await objects.keys()).toEqual([`uploads/${jobId}/video`]);
      expect(await debitsOf([jobId])).toBe(1);
      await objects.clear();
    }
  });

  test('as JSON is the same request where it has no file', async () => {
    const url = 'https://example.com/talk.mp4';
    const first = await send(one, 'no-file', text('video_url', url), text('num_clips', '2'));
    const second = await one.request('POST', '/v1/clip', {
      key: team.key,
      headers: { 'idempotency-key': 'no-file' },
      body: { num_clips: 2, video_url: url },
    });
    expect([first.status, second.status, isReplay(second)]).toEqual([200, 200, true]);
    expect(second.body).toEqual(first.body);
  });
});

test('a form whose outcome is not known keeps its file, as the job may exist', async () => {
  kafka.become('hang');
  const unknown = await send(cutOff, 'unknown', file('video', video));
  expect(unknown.status).toBe(503);
  expect(unknown.body['error']).toContain('same Idempotency-Key is safe');
  expect(await objects.keys()).toHaveLength(1);
  kafka.become('pass');
  const again = await send(one, 'unknown', file('video', video));
  expect(again.status).toBe(200);
  await until('the job to have its file', async () =>
    (await objects.keys()).includes(`uploads/${jobOf(again)}/video`),
  );
  expect(await debitsOf([jobOf(again)])).toBe(1);
});
