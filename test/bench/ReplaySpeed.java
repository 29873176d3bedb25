import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic from its beginning to its end, several times, and prints the events a second of each. */
class ReplaySpeed {
  public static void main(String[] arguments) {
    var settings = new Properties();
    settings.put("bootstrap.servers", arguments[0]);
    settings.put("isolation.level", "read_committed");
    var passes = Integer.parseInt(arguments[2]);
    try (var consumer =
        new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(arguments[1]).stream()
              .map(info -> new TopicPartition(info.topic(), info.partition()))
              .toList();
      consumer.assign(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      for (int pass = 0; pass < passes; pass++) {
        consumer.seekToBeginning(partitions);
        long startedAt = System.nanoTime();
        long events = 0;
        while (!partitions.stream().allMatch(at -> consumer.position(at) >= ends.get(at))) {
          events += consumer.poll(Duration.ofMillis(500)).count();
        }
        System.out.println(Math.round(events / ((System.nanoTime() - startedAt) / 1e9)));
      }
    }
  }
}
