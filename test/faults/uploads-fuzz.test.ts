import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '#test/seeded-random.ts';
import { createTeam } from '#test/stack/client.ts';
import { until } from '#test/stack/poll.ts';
import { readMetric } from '#test/stack/process-metrics.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant } from '#test/stack/tenant.ts';
import { UploadedObjects } from '../integration/http/upload-fixture.ts';
import { faultSeconds, faultSeed } from './fault-budget.ts';
import { FormFuzzer, type FuzzedRequest } from './form-fuzzer.ts';

const MiB = 1024 ** 2;
const fullRunSeconds = 300;
/** `FUZZ_REQUESTS` says otherwise. */
const requestCount = Number(process.env['FUZZ_REQUESTS'] ?? (faultSeconds >= fullRunSeconds ? 10_000 : 300));
const warmUpCount = 200;
const callers = 8;
const maxBytes = 6 * MiB;
/** It levels off at 320 MB after 6,000 forms; one read of 64 KiB that each of 10,000 left behind would be 640 MB more. */
const maxPeakBytes = 400_000_000;
/** What may differ between two looks at a process that does the same as before. */
const heapPlayBytes = 40 * MiB;
const socketPlay = 20;

const expectedStatuses = [200, 400, 408, 413, 415, 431, 501];

let service: RunningService;
let objects: UploadedObjects;
let key: string;

beforeAll(async () => {
  const tenant = await createTenant();
  const env = {
    SOURCE_MAX_BYTES: String(maxBytes),
    MUSIC_MAX_BYTES: String(1 * MiB),
    UPLOAD_IDLE_LIMIT: '2s',
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  service = await startService(tenant, { api: 1, projector: 1, env });
  ({ key } = await createTeam(tenant, { name: 'fuzz', cents: 100_000_000 }));
  objects = new UploadedObjects(tenant.env);
});
afterAll(async () => {
  objects?.close();
  await service?.stop();
});

const baseUrl = () => service.baseUrls[0] ?? '';

async function fuzz(count: number, seed: number): Promise<readonly FuzzedRequest[]> {
  const results: FuzzedRequest[] = [];
  let left = count;
  const callAll = Array.from({ length: callers }, async (_, caller) => {
    const fuzzer = new FormFuzzer({ baseUrl: baseUrl(), key, maxBytes }, seededRandom(seed + caller));
    for (; left > 0; left -= 1) results.push(await fuzzer.send());
  });
  await Promise.all(callAll);
  return results;
}

/** Like `metric`, once it is at most `limit`: sockets close and garbage is collected in their own time. */
const settled = (metric: string, limit: number) =>
  until(`${metric} to be at most ${limit}`, 60_000, async () => {
    const value = await readMetric(baseUrl(), metric);
    if (value > limit) throw new Error(`It is ${value}.`);
    return true;
  });

const describeResult = ({ what, answer }: FuzzedRequest) =>
  `${what}: ${answer?.status} ${JSON.stringify(answer?.body)}`;

test(
  `${requestCount} fuzzed forms crash nothing and leave nothing behind (seed ${faultSeed})`,
  async () => {
    const results = [...(await fuzz(warmUpCount, faultSeed))];
    await settled('clipledger_uploads_under_way', 0);
    const openBefore = await readMetric(baseUrl(), 'clipledger_process_open_fds');
    const heapBefore = await readMetric(baseUrl(), 'clipledger_nodejs_heap_size_used_bytes');
    results.push(...(await fuzz(requestCount, faultSeed + callers)));

    const strange = results.filter(
      ({ answer }) =>
        answer !== undefined &&
        !(
          expectedStatuses.includes(answer.status) &&
          (answer.status === 200 || typeof answer.body['error'] === 'string')
        ),
    );
    expect(strange.map(describeResult)).toEqual([]);
    await settled('clipledger_uploads_under_way', 0);
    const jobs = results
      .filter(({ answer }) => answer?.status === 200)
      .map(({ answer }) => `uploads/${String(answer?.body['job_id'])}/video`);
    expect(jobs.length).toBeGreaterThan(0);
    const kept = await objects.all();
    expect(kept.filter((leftover) => !jobs.includes(leftover))).toEqual([]);
    await settled('clipledger_process_open_fds', openBefore + socketPlay);
    await settled('clipledger_nodejs_heap_size_used_bytes', heapBefore + heapPlayBytes);
    expect(await readMetric(baseUrl(), 'clipledger_process_peak_resident_memory_bytes')).toBeLessThan(
      maxPeakBytes,
    );
  },
  120_000 + requestCount * 300,
);
