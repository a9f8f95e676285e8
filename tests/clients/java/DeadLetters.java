import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A share consumer that rejects the second of three records, and the dead letter of it: one line each of key, value and headers. */
public class DeadLetters {
    private static final String TOPIC = "orders";
    private static final String QUEUE = "dlq.orders";
    private static final String GROUP = "billing";
    private static final long WAIT_NS = 120_000_000_000L;

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0];
        prepare(bootstrap);
        produce(bootstrap);
        rejectSecond(bootstrap);
        printDeadLetter(bootstrap);
    }

    private static void prepare(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            NewTopic queue = new NewTopic(QUEUE, 1, (short) 1)
                .configs(Map.of("errors.deadletterqueue.group.enable", "true"));
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) 1), queue)).all().get();
            List<AlterConfigOp> ops = List.of(
                set("share.auto.offset.reset", "earliest"),
                set("errors.deadletterqueue.topic.name", QUEUE),
                set("errors.deadletterqueue.copy.record.enable", "true"));
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, GROUP), ops)).all().get();
        }
    }

    private static AlterConfigOp set(String name, String value) {
        return new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
    }

    private static void produce(String bootstrap) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap);
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < 3; number++) {
                ProducerRecord<String, String> record = new ProducerRecord<>(TOPIC, "key-" + number, "value-" + number);
                record.headers().add("trace", "a".getBytes(StandardCharsets.UTF_8));
                producer.send(record).get();
            }
        }
    }

    private static void rejectSecond(String bootstrap) {
        Map<String, Object> config =
            Map.of("bootstrap.servers", bootstrap, "group.id", GROUP, "share.acknowledgement.mode", "explicit");
        try (KafkaShareConsumer<String, String> consumer =
                new KafkaShareConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            int count = 0;
            for (long start = System.nanoTime(); count < 3 && System.nanoTime() - start < WAIT_NS; ) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    consumer.acknowledge(record, record.offset() == 1 ? AcknowledgeType.REJECT : AcknowledgeType.ACCEPT);
                    count++;
                }
                consumer.commitSync();
            }
            System.out.println("acknowledged " + count);
        }
    }

    private static void printDeadLetter(String bootstrap) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap);
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(QUEUE, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            List<ConsumerRecord<String, String>> found = new ArrayList<>();
            for (long start = System.nanoTime(); found.isEmpty() && System.nanoTime() - start < WAIT_NS; ) {
                consumer.poll(Duration.ofMillis(500)).forEach(found::add);
            }
            for (ConsumerRecord<String, String> record : found) {
                System.out.println(record.key() + " " + record.value());
                for (Header header : record.headers()) {
                    String text = Optional.ofNullable(header.value()).map(each -> new String(each, StandardCharsets.UTF_8)).orElse("-");
                    System.out.println(header.key() + " " + text);
                }
            }
        }
    }
}
