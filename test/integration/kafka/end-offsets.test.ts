import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#infra/config.ts';
import { openAppender } from '#infra/kafka/appender.ts';
import { connectKafka, type KafkaConnection } from '#infra/kafka/connection.ts';
import { EndOffsets } from '#infra/kafka/end-offsets.ts';
import { KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { ensureTopics } from '#infra/kafka/topic-setup.ts';
import { createLogger } from '#infra/log.ts';
import { createTenant } from '../../stack/tenant.ts';
import { openTcpProxy, type TcpProxy } from '../tcp-proxy.ts';

let proxy: TcpProxy;
let direct: KafkaConnection;
let ends: EndOffsets;

beforeAll(async () => {
  const config = parseConfig({ ...(await createTenant()).env, LOG_LEVEL: 'silent' });
  const [host = '', port = ''] = (config.KAFKA_BROKERS?.[0] ?? '').split(':');
  proxy = await openTcpProxy({ host, port: Number(port) });
  const log = createLogger(config, 'test');
  direct = connectKafka(config, { clientId: 'test', log });
  await ensureTopics(direct, config);
  const routeTo = () => ({ host: '127.0.0.1', port: proxy.port });
  ends = new EndOffsets(connectKafka(config, { clientId: 'test', log, routeTo }), [
    'job.dead',
    'job.progress',
  ]);
});
afterAll(async () => {
  await ends?.close();
  await proxy?.close();
});

async function appendOne(): Promise<void> {
  const appender = await openAppender(direct, { log: direct.log });
  await appender.append([{ topic: 'job.dead', key: 'k', value: Buffer.from('v') }]);
  await appender.close();
}

test('the ends are as of the question, of several topics at once, and over broken connections', async () => {
  const [dead, progress] = await Promise.all([ends.read('job.dead'), ends.read('job.progress')]);
  expect([dead, progress]).toEqual([[0], [0, 0, 0]]);
  await appendOne();
  expect(await ends.read('job.dead')).toEqual([1]);

  proxy.become('refuse');
  await expect(ends.read('job.dead')).rejects.toThrow(KafkaUnavailable);
  await appendOne();
  proxy.become('pass');
  expect(await ends.read('job.dead')).toEqual([2]);
});
