import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFaceImage, makeFacelessImage } from '#test/stack/sample-face.ts';
import { fileAnswers } from '#test/unit/sources/file-server.ts';
import { ApiFixture, type ApiInstance, type Team, until } from '../api-fixture.ts';
import { audit } from '../audit/running-audit.ts';
import { sample } from '../media/task-folder.ts';
import { startSwapWorker } from '../workers/real-worker.ts';
import { file, formOf, text } from './form.ts';

/** Face swaps from the order to the download, with the real engine. */

const run = promisify(execFile);
const frames = 39;

let fixture: ApiFixture;
let api: ApiInstance;
let worker: Awaited<ReturnType<typeof startSwapWorker>>;
let server: Server;
let folder: string;
let host: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'swap-made-'));
  await makeInputs();
  server = createServer(fileAnswers(folder, { body: 0, ranges: [] }, { ranges: true })).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  fixture = await ApiFixture.open({ RATE_LIMIT_PER_MINUTE: '10000', EGRESS_ALLOW: host });
  api = await fixture.startApi();
  worker = await startSwapWorker(fixture.environment, fixture.kafka);
});

afterAll(async () => {
  await worker?.stop();
  await fixture?.close();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** 2.6 s: a face, a second of stars, the face again; a photo of the face, and one of nobody. */
async function makeInputs(): Promise<void> {
  const stretch = (start: number, seconds: number) => [
    '-ss',
    String(start),
    '-t',
    String(seconds),
    '-i',
    sample,
  ];
  const filter =
    '[0:v][0:a][1:v][1:a][2:v][2:a]concat=n=3:v=1:a=1[joined][sound];[joined]scale=640:360,fps=15[picture]';
  const inputs = [...stretch(9.5, 0.8), ...stretch(13, 1), ...stretch(19, 0.8)];
  const picture = [
    '-map',
    '[picture]',
    '-map',
    '[sound]',
    '-frames:v',
    String(frames),
    '-preset',
    'veryfast',
  ];
  await run('ffmpeg', [
    '-v',
    'error',
    ...inputs,
    '-filter_complex',
    filter,
    ...picture,
    join(folder, 'talk.mp4'),
  ]);
  await makeFaceImage(join(folder, 'face.jpg'));
  await makeFacelessImage(join(folder, 'nobody.jpg'));
}

type Order = Readonly<{ job_id: string; cost_cents: number; duration_seconds: number }>;

async function orderByUrls(team: Team, face: string): Promise<Order> {
  const body = {
    video_url: `http://${host}/talk.mp4`,
    face_image_url: `http://${host}/${face}`,
    mode: 'face',
  };
  const created = await api.request('POST', '/v1/face-swap', { key: team.key, body });
  expect(created.status).toBe(202);
  return created.body as Order;
}

async function orderByForm(team: Team): Promise<Order> {
  const form = formOf([
    text('mode', 'fullbody'),
    file('video', await readFile(join(folder, 'talk.mp4')), 'talk.mp4'),
    file('face_image', await readFile(join(folder, 'face.jpg')), 'face.jpg'),
  ]);
  const response = await fetch(`${api.url}/v1/face-swap`, {
    method: 'POST',
    headers: { 'x-api-key': team.key, 'content-type': form.contentType },
    body: new Uint8Array(form.body),
  });
  expect(response.status).toBe(202);
  return (await response.json()) as Order;
}

/** The job's last status, and the percentages that were shown before. */
async function follow(team: Team, { job_id: jobId }: Order) {
  const percents: number[] = [];
  let body: Record<string, unknown> = {};
  const isOver = async () => {
    body = (await api.request('GET', `/v1/face-swap/${jobId}`, { key: team.key })).body;
    if (body['status'] === 'processing') percents.push(Number(body['progress']));
    return body['status'] !== 'processing';
  };
  await until('the swap to end', isOver, 240_000);
  return { body, percents };
}

/** Downloads the result as a client would, and tells what it is. */
async function download(url: unknown) {
  const response = await fetch(String(url));
  const path = join(folder, `${crypto.randomUUID()}.mp4`);
  await writeFile(path, new Uint8Array(await response.arrayBuffer()));
  const asked = 'stream=codec_name,codec_type,nb_read_frames,width,height';
  const { stdout } = await run('ffprobe', [
    ...['-v', 'error', '-count_frames', '-show_entries', asked, '-of', 'json', path],
  ]);
  const { streams } = JSON.parse(stdout) as { streams: Record<string, unknown>[] };
  const isNamed = response.headers.get('content-disposition')?.includes('face swap');
  return {
    isNamed,
    picture: streams.find((stream) => stream['codec_type'] === 'video'),
    count: streams.length,
  };
}

test('orders by form and by URLs are made, downloaded and paid; one that cannot be made is given back', async () => {
  const team = await fixture.createTeam({ cents: 1_000 });
  const orders = await Promise.all([
    orderByForm(team),
    orderByUrls(team, 'face.jpg'),
    orderByUrls(team, 'nobody.jpg'),
  ]);
  for (const order of orders) expect(order).toMatchObject({ duration_seconds: 3, cost_cents: 60 });
  const [fullbody, face, failed] = await Promise.all(orders.map((order) => follow(team, order)));
  for (const { body, percents } of [fullbody, face].filter((made) => made !== undefined)) {
    expect(body).toMatchObject({ status: 'completed' });
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(await download(body['download_url'])).toMatchObject({
      isNamed: true,
      count: 2,
      picture: { codec_name: 'h264', width: 640, height: 360, nb_read_frames: String(frames) },
    });
  }
  expect(failed?.body).toMatchObject({ status: 'failed', error: expect.stringMatching(/face/i) });
  const wallet = await api.request('GET', '/v1/wallet', { key: team.key });
  expect(wallet.body).toMatchObject({ balance_cents: 880, total_spent_cents: 120 });
  expect(await audit(fixture.environment, 'verify')).toMatchObject({ exitCode: 0, error: '' });
});
