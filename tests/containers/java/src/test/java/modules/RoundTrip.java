package modules;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** One record to a broker and back, through a consumer group, with Kafka's own client. */
final class RoundTrip {
    private static final Duration WAIT_MAX = Duration.ofSeconds(30);

    private RoundTrip() {}

    static void run(String bootstrapServers) throws Exception {
        run(bootstrapServers, Map.of());
    }

    static void run(String bootstrapServers, Map<String, Object> security) throws Exception {
        Map<String, Object> config = new HashMap<>(security);
        config.put("bootstrap.servers", bootstrapServers);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>("orders", "order-1", "one coffee"))
                .get(WAIT_MAX.toSeconds(), TimeUnit.SECONDS);
        }
        config.putAll(Map.of("group.id", "readers", "auto.offset.reset", "earliest"));
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("orders"));
            long end = System.nanoTime() + WAIT_MAX.toNanos();
            while (System.nanoTime() < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    assertEquals("one coffee", record.value());
                    return;
                }
            }
        }
        throw new AssertionError("no record within " + WAIT_MAX);
    }

    static String clusterId(String bootstrapServers) throws Exception {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", bootstrapServers))) {
            return admin.describeCluster().clusterId().get(WAIT_MAX.toSeconds(), TimeUnit.SECONDS);
        }
    }
}
