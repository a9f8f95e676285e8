package fauxka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** Three nodes, the loss of one, and a producer that goes on. */
@EnabledIfEnvironmentVariable(named = "FAUXKA_CLUSTER_ADMIN", matches = ".+")
class FailoverTest {
    private static final int ORDERS = 20;

    private final String bootstrapServers = System.getenv("FAUXKA_CLUSTER_BOOTSTRAP");
    private final RemoteBroker broker = new RemoteBroker(System.getenv("FAUXKA_CLUSTER_ADMIN"));

    @BeforeEach
    void createTopic() {
        broker.reset();
        broker.topics().create("orders", 1, Map.of());
    }

    @Test
    void producerGoesOnAfterTheLeaderIsKilledAndNothingIsLost() throws Exception {
        int killed = leader();
        try (var producer = KafkaClients.producer(bootstrapServers)) {
            sendOrders(producer);
            broker.crash(killed, true);
            sendOrders(producer);
        }

        assertNotEquals(killed, leader());
        assertEquals("crashed", stateOf(killed));
        assertEquals(2 * ORDERS, broker.records("orders").size());
        broker.verdict("orders").assertExactlyOnce();
    }

    @Test
    void leaderIsMovedAndItsNodeStopped() throws Exception {
        int from = leader();
        int to = from % 3 + 1;
        broker.moveLeader("orders", 0, to);
        broker.stopNode(from);

        KafkaClients.sendOrder(bootstrapServers);

        assertEquals(to, leader());
        assertEquals("stopped", stateOf(from));
        broker.startNode(from);
        assertEquals("running", stateOf(from));
    }

    @Test
    void crashedNodeRestarts() {
        broker.crash(2, false);
        assertEquals("crashed", stateOf(2));

        broker.restart(2);

        assertEquals("running", stateOf(2));
    }

    @Test
    void isolatedNodeRejoins() {
        broker.isolate(3, RemoteBroker.Surroundings.CONTROLLER, RemoteBroker.Surroundings.NODES);
        assertEquals(List.of("controller", "nodes"), node(3).isolatedFrom());

        broker.rejoin(3);

        assertEquals(List.of(), node(3).isolatedFrom());
    }

    private int leader() {
        return broker.partitions("orders").get(0).leader();
    }

    private String stateOf(int id) {
        return node(id).state();
    }

    private RemoteBroker.Node node(int id) {
        return broker.nodes().stream().filter(each -> each.node() == id).findFirst().orElseThrow();
    }

    private static void sendOrders(KafkaProducer<String, String> producer) throws Exception {
        for (int order = 0; order < ORDERS; order++) {
            KafkaClients.send(producer, "order-" + order);
        }
    }
}
