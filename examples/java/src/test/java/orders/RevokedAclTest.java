package orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A user who loses the ACL of a topic: the next order fails, and the one before is stored. */
class RevokedAclTest {
    private static final String ALLOW_ALICE_TO_WRITE = """
        {"principal": "User:alice", "operation": "WRITE", "resource_type": "TOPIC", "name": "orders"}
        """;

    private static Fauxka fauxka;

    @BeforeAll
    static void start() throws Exception {
        fauxka = new Fauxka(
            "--listener", "SASL_SSL", "--user", "alice:secret", "--seed-topic", "orders:1",
            "-c", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer");
    }

    @AfterAll
    static void stop() throws Exception {
        fauxka.close();
    }

    @BeforeEach
    void reset() throws Exception {
        fauxka.post("/v1/reset", "{\"scope\": \"all\"}");
        fauxka.post("/v1/acls", ALLOW_ALICE_TO_WRITE);
    }

    @Test
    void anOrderAfterTheAclIsRevokedIsNotStored() throws Exception {
        try (var producer = newProducer("secret")) {
            send(producer, "one coffee");

            fauxka.delete("/v1/acls?principal=User:alice");
            var refused = assertThrows(ExecutionException.class, () -> send(producer, "one tea"));

            assertInstanceOf(TopicAuthorizationException.class, refused.getCause());
        }
        JsonNode verdict = fauxka.get("/v1/verdict?topic=orders");
        assertEquals(1, verdict.at("/records/in_log").asInt(), verdict.toPrettyString());
    }

    @Test
    void aWrongPasswordStoresNothing() throws Exception {
        try (var producer = newProducer("wrong")) {
            var refused = assertThrows(ExecutionException.class, () -> send(producer, "one coffee"));

            assertInstanceOf(SaslAuthenticationException.class, refused.getCause());
        }
        JsonNode verdict = fauxka.get("/v1/verdict?topic=orders");
        assertEquals(0, verdict.at("/records/in_log").asInt(), verdict.toPrettyString());
    }

    private static KafkaProducer<String, String> newProducer(String password) {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", fauxka.bootstrapServers(),
            "security.protocol", "SASL_SSL",
            "ssl.truststore.location", fauxka.trustStore(),
            "ssl.truststore.password", "changeit",
            "sasl.mechanism", "SCRAM-SHA-512",
            "sasl.jaas.config", "org.apache.kafka.common.security.scram.ScramLoginModule required "
                + "username=\"alice\" password=\"" + password + "\";");
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    private static void send(KafkaProducer<String, String> producer, String order) throws Exception {
        producer.send(new ProducerRecord<>("orders", order)).get(30, TimeUnit.SECONDS);
    }
}
