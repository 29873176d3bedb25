import { expect, test } from 'vitest';
import { kafkaServer } from '#infra/embedded/kafka-server.ts';
import { findOrphans } from '#infra/embedded/orphans.ts';
import { postgresServer } from '#infra/embedded/postgres-server.ts';
import { parseProcessList } from '#infra/embedded/process-table.ts';
import { s3Server } from '#infra/embedded/s3-server.ts';

const guard = {
  start: () => Promise.reject(new Error('Looking for orphans starts nothing.')),
  close: async () => {},
};
const libraries = { kafkaClassPath: 'a.jar', s3proxyJar: 's3proxy.jar', archiveFolder: '/lib' };

function serversOf(dataDir: string) {
  const kafka = { dataDir, port: 1, controllerPort: 2, clusterId: 'x', libraries, guard, isLasting: false };
  const s3 = { dataDir, port: 4, accessKeyId: 'a', secretAccessKey: 'b', bucket: 'c', libraries, guard };
  return [kafkaServer(kafka), postgresServer({ dataDir, port: 3, password: 'p', guard }), s3Server(s3)];
}

const machine = [
  { pid: 10, commandLine: 'java -Xmx512m -cp a.jar kafka.Kafka /data/one/kafka/server.properties' },
  { pid: 11, commandLine: 'java -Xmx512m -cp a.jar kafka.Kafka /data/two/kafka/server.properties' },
  { pid: 12, commandLine: '/bin/postgres -D /data/one/postgres -p 3', workingFolder: '/data/one/postgres' },
  { pid: 13, commandLine: 'postgres: checkpointer', workingFolder: '/data/one/postgres' },
  { pid: 14, commandLine: 'postgres: checkpointer', workingFolder: '/data/two/postgres' },
  { pid: 15, commandLine: '/bin/postgres -D /data/one/postgres-of-another -p 3', workingFolder: '/data' },
  { pid: 16, commandLine: 'less /data/one/kafka/server.properties' },
  { pid: 17, commandLine: 'java -jar s3proxy.jar --properties /data/one/s3/s3proxy.properties' },
];

test('the servers left over are those of this very folder, and nobody else with a similar name', () => {
  expect(findOrphans(serversOf('/data/one'), machine)).toEqual([
    { part: 'kafka', serverPids: [10], sessionPids: [] },
    { part: 'postgres', serverPids: [12], sessionPids: [13] },
    { part: 's3', serverPids: [17], sessionPids: [] },
  ]);
});

test('sessions that outlive their killed PostgreSQL are found by the folder they work in', () => {
  expect(findOrphans(serversOf('/data/two'), machine)).toEqual([
    { part: 'kafka', serverPids: [11], sessionPids: [] },
    { part: 'postgres', serverPids: [], sessionPids: [14] },
  ]);
});

test('a process list of ps is read line by line', () => {
  expect(
    parseProcessList('    1 /sbin/launchd\n  812 java -cp x kafka.Kafka /a b/server.properties\n\n'),
  ).toEqual([
    { pid: 1, commandLine: '/sbin/launchd' },
    { pid: 812, commandLine: 'java -cp x kafka.Kafka /a b/server.properties' },
  ]);
});
