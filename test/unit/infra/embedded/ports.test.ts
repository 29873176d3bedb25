import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { choosePorts, findFreePort, isPortFree, parsePorts } from '#infra/embedded/ports.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'ports-'));
});

afterEach(() => rm(dataDir, { recursive: true }));

describe('the ports of a data folder', () => {
  test('are different from one another and the same at the next start', async () => {
    const first = await choosePorts(dataDir, ['kafka', 'kafkaController', 'postgres', 's3']);
    expect(new Set(Object.values(first)).size).toBe(4);
    expect(await choosePorts(dataDir, ['kafka', 'kafkaController', 'postgres', 's3'])).toEqual(first);
  });

  test('move away from one that somebody else has taken meanwhile, and only that one', async () => {
    const before = await choosePorts(dataDir, ['kafka', 'kafkaController', 'postgres', 's3']);
    const intruder = createServer().listen(before.kafka, '127.0.0.1');
    await once(intruder, 'listening');
    const after = await choosePorts(dataDir, ['kafka', 'kafkaController', 'postgres', 's3']);
    intruder.close();
    expect(after).toEqual({ ...before, kafka: expect.any(Number) });
    expect(after.kafka).not.toBe(before.kafka);
    expect(JSON.parse(await readFile(join(dataDir, 'ports.json'), 'utf8'))).toEqual(after);
  });

  test('leave alone what is not needed', async () => {
    const { postgres } = await choosePorts(dataDir, ['postgres']);
    const ports = await choosePorts(dataDir, ['s3']);
    expect(ports.postgres).toBe(postgres);
    expect(ports.kafka).toBe(0);
  });

  test('are chosen anew when the file is damaged', async () => {
    await writeFile(join(dataDir, 'ports.json'), '{"kafka": 12');
    expect((await choosePorts(dataDir, ['kafka'])).kafka).toBeGreaterThan(1_024);
  });
});

test('only usable ports are taken from the file', () => {
  expect(parsePorts('{"kafka": 20001, "postgres": "x", "s3": 70000, "other": 20002}')).toEqual({
    kafka: 20_001,
  });
  expect(parsePorts('null')).toEqual({});
});

test('a free port is none of those taken', async () => {
  const port = await findFreePort();
  expect(await isPortFree(port)).toBe(true);
  expect(await findFreePort([port])).not.toBe(port);
});
