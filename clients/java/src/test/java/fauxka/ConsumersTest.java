package fauxka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import fauxka.RemoteBroker.Flow;
import fauxka.RemoteBroker.Header;
import fauxka.RemoteBroker.SeedRecord;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The verdicts on a group, and on what an application makes of a topic in another. */
@EnabledIfEnvironmentVariable(named = "FAUXKA_ADMIN", matches = ".+")
class ConsumersTest {
    private static final Flow FLOW = new Flow("orders", "invoices", "header:id");
    private final RemoteBroker broker = new RemoteBroker(System.getenv("FAUXKA_ADMIN"));

    @BeforeEach
    void readOrders() {
        broker.reset();
        seed("orders", "A-0", "A-1", "A-2");
        KafkaClients.readOrder(System.getenv("FAUXKA_BOOTSTRAP"), "billing");
    }

    private void seed(String topic, String... ids) {
        broker.topics().create(topic, 1, Map.of());
        broker.topics().seed(topic, Stream.of(ids).map(ConsumersTest::event).toArray(SeedRecord[]::new));
    }

    private static SeedRecord event(String id) {
        return new SeedRecord(null, Bytes.of("v"), List.of(new Header("id", Bytes.of(id))), null, null);
    }

    @Test
    void recordThatIsProcessedTwiceFails() {
        var unreported = assertThrows(AssertionError.class, broker.groupVerdict("billing")::assertProcessedOnce);
        assertEquals("no application has reported what group billing processed", unreported.getMessage());

        broker.processed("billing", "orders", 0, 0, 1);
        broker.processedEvents("billing", "orders", "header:id", "A-2");

        var verdict = broker.groupVerdict("billing");
        verdict.assertDeliveredOnce();
        verdict.assertNothingSkipped();
        verdict.assertProcessedOnce();
        verdict.assertLag(0);
        broker.processed("billing", "orders", 0, 1);
        var twice = assertThrows(AssertionError.class, broker.groupVerdict("billing")::assertProcessedOnce);
        String found = "group billing: expected every record processed once, found\n"
            + "    processed twice: orders-0, offsets [1, 1]: ";
        assertTrue(twice.getMessage().startsWith(found), twice.getMessage());
    }

    @Test
    void eventThatIsLostFails() {
        seed("invoices", "A-1", "A-0");

        var verdict = broker.flowVerdict(FLOW, "billing");

        var lost = assertThrows(AssertionError.class, verdict::assertExactlyOnce);
        String found = "orders to invoices: expected exactly once, found\n    lost: 1 events, such as A-2: "
            + "group billing has committed them, and their output was never written";
        assertEquals(found, lost.getMessage());
        var late = assertThrows(AssertionError.class, verdict::assertInOrder);
        assertTrue(late.getMessage().contains("out of order: 1 events, such as A-0: "), late.getMessage());
        verdict.assertNoDuplicates();
        assertEquals(List.of(new FlowVerdict.Place(0, 2)), verdict.findings().get(0).events().get(0).input());

        broker.topics().seed("invoices", event("A-2"));
        broker.flowVerdict(FLOW).assertExactlyOnce();
    }
}
