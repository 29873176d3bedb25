import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTeam } from '#test/stack/client.ts';
import { readMetric } from '#test/stack/process-metrics.ts';
import { type RunningService, startService } from '#test/stack/service.ts';
import { createTenant } from '#test/stack/tenant.ts';
import { uploadAtOnce } from '../integration/http/uploads-at-once.ts';
import { faultSeconds } from './fault-budget.ts';

const fullRunSeconds = 300;
/** `UPLOAD_BYTES` says otherwise. */
const bytes = Number(
  process.env['UPLOAD_BYTES'] ?? (faultSeconds >= fullRunSeconds ? 500_000_000 : 30_000_000),
);
const count = 10;
const maxPeakBytes = 300_000_000;

let service: RunningService;
let key: string;

beforeAll(async () => {
  const tenant = await createTenant();
  service = await startService(tenant, { api: 1, projector: 1 });
  ({ key } = await createTeam(tenant, { name: 'uploads', cents: 10_000 }));
});
afterAll(() => service?.stop());

test(`${count} uploads of ${bytes / 1e6} MB at once stay below ${maxPeakBytes / 1e6} MB of memory`, async () => {
  const [baseUrl = ''] = service.baseUrls;
  const startedMs = performance.now();
  expect(await uploadAtOnce({ baseUrl, key, count, bytes })).toEqual(Array(count).fill(200));
  const seconds = (performance.now() - startedMs) / 1_000;
  const peakBytes = await readMetric(baseUrl, 'clipledger_process_peak_resident_memory_bytes');
  const rate = (count * bytes) / 1e6 / seconds;
  process.stderr.write(`peak ${Math.round(peakBytes / 1e6)} MB, ${Math.round(rate)} MB/s\n`);
  // 0 where the system does not tell; CI's does.
  expect(peakBytes).toBeLessThan(maxPeakBytes);
}, 600_000);
