import { expect, test } from 'vitest';
import { kafkaProperties } from '#infra/embedded/kafka-server.ts';

test('listener, advertised listener and voters all follow the ports', () => {
  const lines = kafkaProperties({ port: 20_001, controllerPort: 20_002, logDir: '/data/kafka/log' }).split(
    '\n',
  );
  expect(lines).toContain('listeners=PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:20002');
  expect(lines).toContain('advertised.listeners=PLAINTEXT://127.0.0.1:20001');
  expect(lines).toContain('controller.quorum.voters=1@127.0.0.1:20002');
  expect(lines).toContain('log.dirs=/data/kafka/log');
});
