package fauxka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Kafka's own clients, for orders as texts. */
final class KafkaClients {
    private static final Duration STEP_MAX = Duration.ofSeconds(60);

    private KafkaClients() {}

    static KafkaProducer<String, String> producer(String bootstrapServers) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrapServers);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    /** Sends an order and waits for its acknowledgement. */
    static RecordMetadata send(KafkaProducer<String, String> producer, String order) throws Exception {
        return producer.send(new ProducerRecord<>("orders", order, "one coffee"))
            .get(STEP_MAX.toSeconds(), TimeUnit.SECONDS);
    }

    /** Sends one order by a producer of its own. */
    static void sendOrder(String bootstrapServers) throws Exception {
        try (var producer = producer(bootstrapServers)) {
            send(producer, "order-1");
        }
    }

    /** Reads one order by a group, and commits its offset. */
    static void readOrder(String bootstrapServers, String groupId) {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrapServers, "group.id", groupId, "auto.offset.reset", "earliest");
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of("orders"));
            long end = System.nanoTime() + STEP_MAX.toNanos();
            while (consumer.poll(Duration.ofMillis(100)).isEmpty()) {
                if (System.nanoTime() > end) {
                    throw new AssertionError("no order within " + STEP_MAX);
                }
            }
            consumer.commitSync();
        }
    }
}
