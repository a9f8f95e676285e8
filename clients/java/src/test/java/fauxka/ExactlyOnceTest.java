package fauxka;

import static fauxka.FaultRule.falseSuccess;
import static fauxka.FaultRule.lostAck;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** What Kafka's producer does after a fault, and what the verdict finds. */
@EnabledIfEnvironmentVariable(named = "FAUXKA_ADMIN", matches = ".+")
class ExactlyOnceTest {
    private final String bootstrapServers = System.getenv("FAUXKA_BOOTSTRAP");
    private final RemoteBroker broker = new RemoteBroker(System.getenv("FAUXKA_ADMIN"));

    @BeforeEach
    void createTopic() {
        broker.reset();
        broker.topics().create("orders", 1, Map.of());
    }

    @Test
    void batchWhoseAcknowledgementIsLostIsSentAgainAndStoredOnce() throws Exception {
        RemoteBroker.Rule lost = broker.faults().add(lostAck().topic("orders"));

        KafkaClients.sendOrder(bootstrapServers);

        assertEquals(1, lost.awaitHits());
        Verdict verdict = broker.verdict("orders");
        verdict.assertExactlyOnce();
        assertEquals(1, verdict.batches().duplicatesRecognised());
        assertEquals(List.of("appended", "duplicate"), decisions());
    }

    @Test
    void lostRecordFailsTheAssertionThatNamesIt() throws Exception {
        broker.faults().add(falseSuccess().topic("orders"));

        KafkaClients.sendOrder(bootstrapServers);

        var failure = assertThrows(AssertionError.class, broker.verdict("orders")::assertExactlyOnce);
        String message = failure.getMessage();
        assertTrue(message.startsWith("orders: expected exactly once, found acknowledged batches lost: 1"), message);
        assertTrue(message.contains("acknowledged lost: partition 0, "), message);
        assertTrue(message.contains("sequences from 0: it was acknowledged and not appended (rule "), message);
    }

    @Test
    void verdictOnATopicToWhichNothingWasProducedFails() {
        var failure = assertThrows(AssertionError.class, broker.verdict("orders")::assertExactlyOnce);

        assertEquals("orders: nothing was produced, so there is nothing to judge", failure.getMessage());
    }

    /** Kafka appends any sequence of a producer of which the partition has no state. */
    @Test
    void batchOfAnExpiredProducerIsAppended() throws Exception {
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            KafkaClients.send(producer, "order-1");
            List<RemoteBroker.Producer> expired = broker.producers().expire(producerId());

            assertEquals(1, KafkaClients.send(producer, "order-2").offset());

            assertEquals(List.of(1), expired.stream().map(RemoteBroker.Producer::nextSequence).toList());
            assertEquals(List.of("appended", "appended"), decisions());
            broker.verdict("orders").assertExactlyOnce();
        }
    }

    @Test
    void producerExpiresByTheClock() throws Exception {
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            KafkaClients.send(producer, "order-1");

            broker.clock().advance(Duration.ofDays(2));

            assertEquals(List.of(), broker.producers().list());
            assertEquals(1, KafkaClients.send(producer, "order-2").offset());
        }
    }

    private long producerId() {
        return broker.producers().list().get(0).producerId();
    }

    private List<String> decisions() {
        return broker.journal().entries(new RemoteBroker.Requests().api("Produce")).stream()
            .flatMap(request -> request.batches().stream())
            .map(RemoteBroker.Batch::decision)
            .toList();
    }
}
