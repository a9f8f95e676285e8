package fauxka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;

/** The image, named by FAUXKA_IMAGE. */
@EnabledIfEnvironmentVariable(named = "FAUXKA_IMAGE", matches = ".+")
class FauxkaContainerTest {
    private static final String IMAGE = System.getenv("FAUXKA_IMAGE");

    @Test
    void orderWhoseAcknowledgementIsLostIsStoredOnce() throws Exception {
        try (var fauxka = new FauxkaContainer(IMAGE, 1).withConfig("num.partitions", "3")) {
            fauxka.start();
            var lost = fauxka.broker().faults().add(FaultRule.lostAck().topic("orders"));

            KafkaClients.sendOrder(fauxka.getBootstrapServers());

            lost.awaitHits();
            fauxka.broker().verdict("orders").assertExactlyOnce();
            assertEquals(3, fauxka.broker().partitions("orders").size());
        }
    }

    @Test
    void containerOfTheSameNetworkReachesTheBrokerByItsAlias() throws Exception {
        try (var network = Network.newNetwork();
            var fauxka = new FauxkaContainer(IMAGE, 1).withNetwork(network).withNetworkAliases("kafka");
            var client = new GenericContainer<>(IMAGE).withNetwork(network).withCommand("sh", "-c", "sleep 600")) {
            fauxka.start();
            client.start();
            KafkaClients.sendOrder(fauxka.getBootstrapServers());

            var listed = client.execInContainer("kafka-topics", "--bootstrap-server", "kafka:9093", "--list");

            assertEquals("orders\n", listed.getStdout(), listed.getStderr());
        }
    }

    @Test
    void severalNodesAreReached() throws Exception {
        try (var fauxka = new FauxkaContainer(IMAGE, 3)) {
            fauxka.start();
            for (String address : fauxka.getBootstrapServers().split(",")) {
                KafkaClients.sendOrder(address);
            }

            var states = fauxka.broker().nodes().stream().map(RemoteBroker.Node::state).toList();
            assertEquals(List.of("running", "running", "running"), states);
            assertEquals(3, fauxka.broker().records("orders").size());
        }
    }
}
