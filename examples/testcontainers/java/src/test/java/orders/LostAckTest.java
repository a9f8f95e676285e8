package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;

/** An order whose acknowledgement is lost, with a broker in a container: it is stored once. */
class LostAckTest {
    @Test
    void theOrderIsStoredOnce() throws Exception {
        try (FauxkaContainer fauxka = new FauxkaContainer()) {
            fauxka.start();
            fauxka.loseAck("orders");

            Map<String, Object> config = Map.of("bootstrap.servers", fauxka.getBootstrapServers());
            try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
                producer.send(new ProducerRecord<>("orders", "order-1", "one coffee")).get(30, TimeUnit.SECONDS);
            }

            JsonNode verdict = fauxka.verdict("orders");
            assertEquals(1, verdict.at("/batches/appended_once").asInt(), verdict.toPrettyString());
            assertEquals(1, verdict.at("/batches/duplicates_recognised").asInt(), verdict.toPrettyString());
            assertEquals(0, verdict.at("/records/duplicates").asInt(), verdict.toPrettyString());
        }
    }
}
