package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An order whose acknowledgement is lost: how the producer retries, with and without idempotence. */
class LostAckTest {
    /** The batch is appended; then the connection is closed instead of a response, once. */
    private static final String LOSE_ONE_ACK = """
        {"name": "lose the ack of an order",
         "match": {"api": "Produce", "topic": "orders"},
         "point": "applied",
         "action": {"kind": "close"}}
        """;

    private static Fauxka fauxka;

    @BeforeAll
    static void start() throws Exception {
        fauxka = new Fauxka();
    }

    @AfterAll
    static void stop() throws Exception {
        fauxka.close();
    }

    @BeforeEach
    void reset() throws Exception {
        fauxka.post("/v1/reset", "{\"scope\": \"all\"}");
    }

    @Test
    void anIdempotentProducerStoresTheOrderOnce() throws Exception {
        JsonNode rule = fauxka.post("/v1/rules", LOSE_ONE_ACK);

        RecordMetadata stored = sendOrder(true);

        fauxka.get("/v1/rules/" + rule.get("id") + "/await?hits=1&timeout_ms=5000");
        JsonNode verdict = fauxka.get("/v1/verdict?topic=orders&event_id=key");
        assertEquals(0, stored.offset(), "the retry returns the offset of the first copy");
        assertEquals(1, verdict.at("/batches/appended_once").asInt(), verdict.toPrettyString());
        assertEquals(1, verdict.at("/batches/duplicates_recognised").asInt(), verdict.toPrettyString());
        assertEquals(0, verdict.at("/records/duplicates").asInt(), verdict.toPrettyString());
    }

    @Test
    void withoutIdempotenceTheOrderIsStoredTwice() throws Exception {
        fauxka.post("/v1/rules", LOSE_ONE_ACK);

        sendOrder(false);

        JsonNode verdict = fauxka.get("/v1/verdict?topic=orders&event_id=key");
        assertEquals(1, verdict.at("/batches/appended_twice").asInt(), verdict.toPrettyString());
        assertEquals(1, verdict.at("/records/duplicates").asInt(), verdict.toPrettyString());
        assertEquals("[0,1]", verdict.at("/findings/0/offsets").toString(), verdict.toPrettyString());
    }

    private static RecordMetadata sendOrder(boolean isIdempotent) throws Exception {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", fauxka.bootstrapServers(),
            "enable.idempotence", String.valueOf(isIdempotent));
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            return producer.send(new ProducerRecord<>("orders", "order-1", "one coffee")).get(30, TimeUnit.SECONDS);
        }
    }
}
