import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** Sends events with the default configuration, so idempotent, each in a request of its own: five are in flight. */
public final class InFlightProducer {
    private static final int EVENTS = 8;

    public static void main(String[] arguments) throws Exception {
        Map<String, Object> config = Map.of("bootstrap.servers", arguments[0], "batch.size", 0);
        StringSerializer text = new StringSerializer();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(config, text, text)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (int number = 0; number < EVENTS; number++) {
                sent.add(producer.send(new ProducerRecord<>("orders", 0, null, "order " + number)));
            }
            for (Future<RecordMetadata> each : sent) {
                each.get();
            }
        }
    }
}
