import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Produces a record idempotently and one in a transaction, with an offset of the group that reads both. Each argument is RELEASE=HOST:PORT;
 * for each a line with the records of the group goes out. It compiles with each client from 2.1 on.
 *
 * <p>Run by: java -cp "jars/*" ReleaseClient.java 2.8=127.0.0.1:9092
 */
public final class ReleaseClient {
    private static final String TOPIC = "orders";
    private static final String GROUP = "readers";

    public static void main(String[] arguments) throws Exception {
        for (String argument : arguments) {
            String[] parts = argument.split("=");
            System.out.println(parts[0] + " " + use(parts[0], parts[1]));
        }
    }

    private static List<String> use(String release, String servers) throws Exception {
        try (KafkaProducer<String, String> idempotent = producer(servers, "enable.idempotence", "true")) {
            idempotent.send(new ProducerRecord<>(TOPIC, "idempotent")).get();
        }
        List<String> received = new ArrayList<>();
        try (KafkaProducer<String, String> copier = producer(servers, "transactional.id", "copier");
                KafkaConsumer<String, String> consumer = consumer(servers)) {
            copier.initTransactions();
            consumer.subscribe(Collections.singletonList(TOPIC));
            receive(consumer, received, 1);
            copier.beginTransaction();
            copier.send(new ProducerRecord<>(TOPIC, "transactional"));
            sendOffsets(copier, consumer, release.compareTo("2.5") >= 0);
            copier.commitTransaction();
            receive(consumer, received, 2);
            consumer.commitSync();
        }
        return received;
    }

    /** Sends an offset of the group. Brokers before 2.5 cannot check the member of the group (KIP-447). */
    private static void sendOffsets(KafkaProducer<?, ?> copier, KafkaConsumer<?, ?> consumer, boolean withMember) throws Exception {
        Method send = null;
        for (Method method : KafkaProducer.class.getMethods()) {
            boolean isBetter = send == null || method.getParameterCount() == 2 && method.getParameterTypes()[1] != String.class;
            if (method.getName().equals("sendOffsetsToTransaction") && isBetter) {
                send = method;
            }
        }
        Class<?> type = send.getParameterTypes()[1];
        Object group = GROUP;
        if (type != String.class) {
            group = withMember
                    ? KafkaConsumer.class.getMethod("groupMetadata").invoke(consumer)
                    : type.getConstructor(String.class).newInstance(GROUP);
        }
        send.invoke(copier, Collections.singletonMap(new TopicPartition(TOPIC, 0), new OffsetAndMetadata(1)), group);
    }

    private static void receive(KafkaConsumer<String, String> consumer, List<String> received, int count) {
        while (received.size() < count) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                received.add(record.value());
            }
        }
    }

    private static KafkaProducer<String, String> producer(String servers, String key, String value) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", servers);
        config.put(key, value);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    private static KafkaConsumer<String, String> consumer(String servers) {
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", servers);
        config.put("group.id", GROUP);
        config.put("auto.offset.reset", "earliest");
        config.put("isolation.level", "read_committed");
        config.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }
}
