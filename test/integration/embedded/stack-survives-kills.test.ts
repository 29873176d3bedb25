import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findRunningStack } from '#infra/embedded/running-stack.ts';
import type { StackPart } from '#infra/embedded/stack-server.ts';
import { until } from '#test/stack/poll.ts';
import {
  expectMarks,
  livingServers,
  makeDataFolder,
  type StackProcess,
  startStackProcess,
  writeMark,
} from './stack-process.ts';

/** One data folder goes through all of it: what was written before any kill must be there at the end. */

let dataFolder: Awaited<ReturnType<typeof makeDataFolder>>;
let stack: StackProcess;
const marks: string[] = [];

beforeAll(async () => {
  dataFolder = await makeDataFolder();
  stack = await startStackProcess(dataFolder.path);
  marks.push(await writeMark(stack.addresses));
});

afterAll(async () => {
  await stack?.interrupt();
  await dataFolder?.remove();
});

const nothingRuns = (killed: StackProcess) =>
  until('all servers have ended', 30_000, async () =>
    (await livingServers(killed.addresses)).length === 0 ? true : undefined,
  );

test('a second start on the same data is refused with the owner named', async () => {
  await expect(startStackProcess(dataFolder.path)).rejects.toThrow(`in use by process ${stack.pid}`);
});

test('Ctrl-C stops everything in order, and the next start has the same addresses and data', async () => {
  const before = stack.addresses;
  expect(await stack.interrupt()).toBe(0);
  expect(await livingServers(before)).toEqual([]);
  expect(await findRunningStack(dataFolder.path)).toBeUndefined();
  stack = await startStackProcess(dataFolder.path);
  expect({ ...stack.addresses, ownerPid: 0, pids: 0 }).toEqual({ ...before, ownerPid: 0, pids: 0 });
  await expectMarks(stack.addresses, marks);
});

test('servers end with their killed starter, and the next start works', async () => {
  marks.push(await writeMark(stack.addresses));
  await stack.kill();
  await nothingRuns(stack);
  expect(await findRunningStack(dataFolder.path)).toBeUndefined();
  stack = await startStackProcess(dataFolder.path);
  await expectMarks(stack.addresses, marks);
});

test('servers that outlive starter and guardian are stopped by the next start', async () => {
  marks.push(await writeMark(stack.addresses));
  const killed = stack;
  await killed.kill('guardian');
  stack = await startStackProcess(dataFolder.path);
  expect(await livingServers(killed.addresses)).toEqual([]);
  await expectMarks(stack.addresses, marks);
});

describe.each<StackPart>(['kafka', 'postgres', 's3'])('after kill -9 of %s', (part) => {
  test('it comes back on its port with its data', async () => {
    marks.push(await writeMark(stack.addresses));
    const killedPid = stack.addresses.pids[part];
    process.kill(killedPid, 'SIGKILL');
    const back = await until(`${part} runs again`, 60_000, async () => {
      const now = await findRunningStack(dataFolder.path);
      return now !== undefined && now.pids[part] !== killedPid ? now : undefined;
    });
    stack = { ...stack, addresses: back };
    await expectMarks(back, marks);
  });
});

test('after kill -9 of everything at once the next start works and has lost nothing', async () => {
  marks.push(await writeMark(stack.addresses));
  for (const pid of Object.values(stack.addresses.pids)) process.kill(pid, 'SIGKILL');
  await stack.kill('guardian');
  stack = await startStackProcess(dataFolder.path);
  await expectMarks(stack.addresses, marks);
});

test('ports that somebody else has taken meanwhile are replaced, and the data follows', async () => {
  const before = stack.addresses;
  await stack.interrupt();
  const portOf = (address: string | undefined) =>
    Number(/:(\d+)/.exec(address?.replace(/^.*@|^http:\/\//, '') ?? '')?.[1]);
  const ports = [before.kafkaBrokers?.[0], before.databaseUrl, before.s3?.endpoint].map(portOf);
  const intruders = ports.map((port) => createServer().listen(port, '127.0.0.1'));
  await Promise.all(intruders.map((intruder) => once(intruder, 'listening')));
  stack = await startStackProcess(dataFolder.path);
  const moved = [
    stack.addresses.kafkaBrokers?.[0],
    stack.addresses.databaseUrl,
    stack.addresses.s3?.endpoint,
  ];
  for (const port of moved.map(portOf)) expect(ports).not.toContain(port);
  await expectMarks(stack.addresses, marks);
  for (const intruder of intruders) intruder.close();
});

test('two data folders run side by side and know nothing of each other', async () => {
  const otherFolder = await makeDataFolder();
  const other = await startStackProcess(otherFolder.path);
  const otherMark = await writeMark(other.addresses);
  expect(other.addresses.s3?.secretAccessKey).not.toBe(stack.addresses.s3?.secretAccessKey);
  await other.kill();
  await nothingRuns(other);
  expect(await livingServers(stack.addresses)).toHaveLength(3);
  await expectMarks(stack.addresses, marks);
  const again = await startStackProcess(otherFolder.path);
  await expectMarks(again.addresses, [otherMark]);
  await again.interrupt();
  await otherFolder.remove();
});
