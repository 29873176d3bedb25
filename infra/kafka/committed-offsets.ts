import type { Topic } from '#schemas/topics.ts';
import type { KafkaConnection } from './connection.ts';

/** The offsets a consumer group has committed for a topic; partitions without one are missing. */
export async function committedOffsets(
  kafka: KafkaConnection,
  group: string,
  topic: Topic,
): Promise<ReadonlyMap<number, number>> {
  const answers = await kafka.admin((admin) =>
    admin.fetchOffsets({ groupId: kafka.scopedName(group), topics: [kafka.topicName(topic)] }),
  );
  const partitions = answers.flatMap((answer) => answer.partitions);
  return new Map(
    partitions
      .map(({ partition, offset }) => [partition, Number(offset)] as const)
      .filter(([, offset]) => offset >= 0),
  );
}

/** Removes a consumer group without members and its offsets; one that is not there is fine. */
export async function deleteGroup(kafka: KafkaConnection, group: string): Promise<void> {
  await kafka.admin((admin) => admin.deleteGroups([kafka.scopedName(group)]).catch(() => []));
}
