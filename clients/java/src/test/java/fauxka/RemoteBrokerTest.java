package fauxka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import fauxka.FaultRule.Point;
import fauxka.RemoteBroker.Requests;
import fauxka.RemoteBroker.SeedRecord;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Each part of the admin API. */
@EnabledIfEnvironmentVariable(named = "FAUXKA_ADMIN", matches = ".+")
class RemoteBrokerTest {
    private final String bootstrapServers = System.getenv("FAUXKA_BOOTSTRAP");
    private final RemoteBroker broker = new RemoteBroker(System.getenv("FAUXKA_ADMIN"));

    @BeforeEach
    void createTopic() {
        broker.reset();
        broker.topics().create("orders", 1, Map.of("retention.ms", -1));
    }

    @Test
    void errorReachesTheClient() {
        broker.faults().add(FaultRule.refuse("TOPIC_AUTHORIZATION_FAILED").api("Produce").topic("orders", "payments"));

        var failure = assertThrows(ExecutionException.class, () -> KafkaClients.sendOrder(bootstrapServers));

        assertEquals(TopicAuthorizationException.class, failure.getCause().getClass());
        assertEquals(List.of(), broker.records("orders"));
    }

    @Test
    void rulesOfEachRecipeAreAccepted() {
        var faults = broker.faults();

        faults.add(FaultRule.lostAck().times(2).skip(1));
        faults.add(FaultRule.lostRequest().partition(0, 1));
        faults.add(FaultRule.hang().where("topic", Map.of("regex", "o.*")));
        faults.add(FaultRule.held().clientId("orders-1").node(1));
        faults.add(FaultRule.deliveredTwice().producerId(7));
        faults.add(FaultRule.falseError("REQUEST_TIMED_OUT").named("late"));
        faults.add(FaultRule.crashAfterAppend().when("probability", 0.5));
        faults.add(FaultRule.crashBeforeAppend());
        faults.add(FaultRule.closedConnection().groupId("readers"));
        faults.add(FaultRule.resetConnection().api("Fetch", "Metadata"));
        faults.add(FaultRule.slowRequests(Duration.ofSeconds(1)));
        faults.add(FaultRule.of(Point.ANSWERING, "truncate").with("bytes", 10));

        assertEquals(12, broker.call("GET", "/v1/rules", null).get("items").size());
        faults.clear();
        assertEquals(0, broker.call("GET", "/v1/rules", null).get("items").size());
    }

    @Test
    void slowAnswerWaitsForTheClock() throws Exception {
        broker.clock().setMode(RemoteBroker.ClockMode.MANUAL);
        var slow = broker.faults().add(FaultRule.slowAnswers(Duration.ofHours(1)).api("Produce"));
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            var sent = producer.send(new ProducerRecord<>("orders", "order-1", "one coffee"));
            slow.awaitHits();
            assertFalse(sent.isDone());

            broker.clock().advance(Duration.ofHours(1));

            assertEquals(0, sent.get(60, TimeUnit.SECONDS).offset());
        }
    }

    @Test
    void ruleIsRemovedAtTheEndOfTheBlock() throws Exception {
        RemoteBroker.Rule removed;
        try (var observed = broker.faults().add(FaultRule.observed().api("Produce"))) {
            KafkaClients.sendOrder(bootstrapServers);
            assertEquals(1, observed.hits());
            removed = observed;
        }

        assertEquals(404, assertThrows(CallException.class, removed::hits).status());
    }

    @Test
    void waitThatTimesOutNamesTheNearMisses() throws Exception {
        var rule = broker.faults().add(FaultRule.lostAck().topic("payments"));
        KafkaClients.sendOrder(bootstrapServers);

        var timeout = assertThrows(CallException.WaitTimeout.class, () -> rule.awaitHits(1, Duration.ofMillis(10)));

        assertEquals(0, timeout.hits());
        assertTrue(timeout.getMessage().contains("topic: orders, not payments"), timeout.getMessage());
    }

    @Test
    void invalidRuleIsRefusedWithItsField() {
        var refused = assertThrows(
            CallException.class, () -> broker.faults().add(FaultRule.closedConnection().where("partition", "x")));

        assertEquals(400, refused.status());
        assertEquals("match.partition", refused.field());
        assertTrue(refused.getMessage().contains("integer"), refused.getMessage());
    }

    @Test
    void addressWithoutABrokerIsAnIoException() {
        var nobody = new RemoteBroker("http://127.0.0.1:1");

        assertThrows(UncheckedIOException.class, nobody::reset);
    }

    @Test
    void heldRequestIsAppliedAfterItsRelease() throws Exception {
        var rule = broker.faults().add(FaultRule.held().topic("orders"));
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            var sent = producer.send(new ProducerRecord<>("orders", "order-1", "one coffee"));
            rule.awaitHits();
            var held = broker.held().list().get(0);
            assertFalse(sent.isDone());

            broker.held().release(held.id());

            assertEquals(0, sent.get(60, TimeUnit.SECONDS).offset());
            assertEquals(List.of("orders"), held.topics());
        }
    }

    @Test
    void journalIsFilteredCountedAndCleared() throws Exception {
        KafkaClients.sendOrder(bootstrapServers);
        var produce = new Requests().api("Produce").topic("orders");

        var entry = broker.journal().entries(produce).get(0);

        assertEquals(1, broker.journal().count(produce));
        assertEquals(0, broker.journal().count(new Requests().api("Produce").since(entry.id())));
        assertEquals("appended", entry.batches().get(0).decision());
        assertTrue(entry.answered());
        broker.journal().clear();
        assertEquals(List.of(), broker.journal().entries(new Requests()));
    }

    @Test
    void clockStandsStillUntilItIsAdvanced() {
        broker.clock().setMode(RemoteBroker.ClockMode.MANUAL);
        Instant before = broker.clock().now();

        assertEquals(before.plus(Duration.ofHours(1)), broker.clock().advance(Duration.ofHours(1)));
        assertEquals(before.plus(Duration.ofHours(1)), broker.clock().now());
    }

    @Test
    void seededRecordsHaveTheirTextsAndBytes() {
        byte[] noText = {0, (byte) 0xff};
        var header = new RemoteBroker.Header("trace", Bytes.of("1"));
        broker.topics().seed(
            "orders",
            new SeedRecord("order-1", "one coffee"),
            new SeedRecord(null, new Bytes(noText), List.of(header), 0, 1_700_000_000_000L));

        var records = broker.records("orders");

        assertEquals(Bytes.of("order-1"), records.get(0).key());
        assertEquals("one coffee", records.get(0).value().text());
        assertEquals(null, records.get(1).key());
        assertArrayEquals(noText, records.get(1).value().bytes());
        assertEquals("1", records.get(1).headers().get(0).value().text());
        assertEquals(1_700_000_000_000L, records.get(1).timestamp());
    }

    /** A page of records ends after 1 MiB. */
    @Test
    void recordsOfSeveralPagesAreReturned() {
        String large = "x".repeat(600_000);
        for (int order = 0; order < 3; order++) {
            broker.topics().seed("orders", new SeedRecord("order-" + order, large));
        }

        var keys = broker.records("orders").stream().map(RemoteBroker.StoredRecord::key).toList();

        assertEquals(List.of(Bytes.of("order-0"), Bytes.of("order-1"), Bytes.of("order-2")), keys);
    }

    @Test
    void topicsAreListedAndDeleted() {
        var topic = broker.topics().create("payments", 3, Map.of());

        assertEquals(3, topic.partitions().size());
        assertEquals("-1", broker.topics().list().get(0).configs().get("retention.ms"));
        broker.topics().delete(topic.name());
        assertEquals(List.of("orders"), broker.topics().list().stream().map(RemoteBroker.Topic::name).toList());
    }

    @Test
    void groupHasItsMembersAndOffsets() throws Exception {
        KafkaClients.sendOrder(bootstrapServers);
        KafkaClients.readOrder(bootstrapServers, "readers of orders");

        var group = broker.groups().get("readers of orders");

        assertEquals("Empty", group.state());
        assertEquals(1, group.offsets().get(0).offset());
        assertEquals(0, group.offsets().get(0).lag());
        assertEquals(List.of(group), broker.groups().list());
    }

    @Test
    void producerWithANewEpochIsFenced() throws Exception {
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            KafkaClients.send(producer, "order-1");
            var before = broker.producers().bumpEpoch(broker.producers().list().get(0).producerId());

            var failure = assertThrows(ExecutionException.class, () -> KafkaClients.send(producer, "order-2"));

            assertEquals(InvalidProducerEpochException.class, failure.getCause().getClass());
            assertEquals(1, before.get(0).cached().size());
        }
    }

    @Test
    void producersAreForgottenAndTheirBatchesEvicted() throws Exception {
        KafkaClients.sendOrder(bootstrapServers);
        long id = broker.producers().list().get(0).producerId();

        broker.producers().evictCache(id);
        assertEquals(List.of(), broker.producers().list().get(0).cached());
        broker.producers().forget(id);

        assertEquals(List.of(), broker.producers().list());
    }

    @Test
    void snapshotIsRestored() {
        long snapshot = broker.snapshot();
        broker.topics().seed("orders", new SeedRecord("order-1", "one coffee"));

        broker.restore(snapshot);

        assertEquals(List.of(), broker.records("orders"));
    }

    @Test
    void resetOfTheJournalKeepsTheData() throws Exception {
        KafkaClients.sendOrder(bootstrapServers);

        broker.reset(RemoteBroker.Scope.JOURNAL);

        assertEquals(0, broker.journal().count(new Requests()));
        assertEquals(1, broker.records("orders").size());
    }
}
