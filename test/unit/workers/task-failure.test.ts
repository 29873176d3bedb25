import { expect, test } from 'vitest';
import { KafkaFailure, KafkaUnavailable } from '#infra/kafka/kafka-failure.ts';
import { MediaFailure } from '#infra/media/media-failure.ts';
import { StorageFailure } from '#infra/object-storage/storage-failure.ts';
import { classifyFailure } from '#workers/runtime/task-failure.ts';

test('broken material is permanent and keeps its sentence for the client', () => {
  expect(
    classifyFailure(new MediaFailure('NOT_A_VIDEO', 'The source is no video.', { detail: 'html' })),
  ).toEqual({ class: 'permanent', code: 'not_a_video', message: 'The source is no video.', detail: 'html' });
});

test('a media failure that may pass is transient', () => {
  expect(classifyFailure(new MediaFailure('SOURCE_UNREACHABLE', 'It did not answer.')).class).toBe(
    'transient',
  );
});

test('object storage that is down or refuses our credentials is an outage', () => {
  expect(classifyFailure(new StorageFailure('UNAVAILABLE', 'down')).class).toBe('outage');
  expect(classifyFailure(new StorageFailure('TIME_LIMIT', 'slow')).class).toBe('outage');
  expect(classifyFailure(new StorageFailure('REFUSED', 'wrong secret')).class).toBe('outage');
});

test('an object that is gone is given up after some tries', () => {
  expect(classifyFailure(new StorageFailure('NOT_FOUND', 'no plan')).class).toBe('transient');
});

test('Kafka that is down is an outage, a refusal is not', () => {
  expect(classifyFailure(new KafkaUnavailable('down')).class).toBe('outage');
  expect(classifyFailure(new KafkaFailure('KAFKA_REFUSED', 'too large')).class).toBe('transient');
});

test('what nobody foresaw may pass, and clients are not told its text', () => {
  const failure = classifyFailure(new TypeError('secret is undefined'));
  expect(failure.class).toBe('transient');
  expect(failure.message).not.toContain('secret');
  expect(failure.detail).toContain('secret is undefined');
});
