import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { findPortOwner, listeningInodes } from '#infra/start/port-owner.ts';
import { embeddedParts } from '#infra/start/provide-stack.ts';
import { restartPauseMs } from '#infra/start/restart-pause.ts';

test('a part is embedded unless its address is set', () => {
  const none = { KAFKA_BROKERS: undefined, DATABASE_URL: undefined, S3_ENDPOINT: undefined };
  expect(embeddedParts(none)).toEqual(['kafka', 'postgres', 's3']);
  expect(embeddedParts({ ...none, DATABASE_URL: 'postgres://db/x' })).toEqual(['kafka', 's3']);
  const all = { KAFKA_BROKERS: ['k:9092'], DATABASE_URL: 'postgres://db/x', S3_ENDPOINT: 'http://s3' };
  expect(embeddedParts(all)).toEqual([]);
});

test('the pause before a restart doubles up to half a minute', () => {
  expect([1, 2, 3, 4].map(restartPauseMs)).toEqual([500, 1_000, 2_000, 4_000]);
  expect(restartPauseMs(50)).toBe(30_000);
});

test('only sockets that listen on the very port count', () => {
  const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1
   1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4712 1
   2: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 4713 1`;
  expect(listeningInodes(table, 8080)).toEqual(['4711']);
});

test.runIf(process.platform === 'linux')('the process that has a port is found', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  expect((await findPortOwner(port))?.pid).toBe(process.pid);
  server.close();
});
