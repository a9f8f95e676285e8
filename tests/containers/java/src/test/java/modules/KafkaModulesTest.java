package modules;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.kafka.ConfluentKafkaContainer;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.utility.DockerImageName;

/**
 * The modules of testcontainers-java as their documentation uses them. The image has the names of Kafka's images here, so
 * that nothing else differs from a test with Kafka; and its own name where a test says asCompatibleSubstituteFor.
 */
class KafkaModulesTest {
    private static final DockerImageName FAUXKA = DockerImageName.parse("localhost/fauxka:8.3.0");

    @ParameterizedTest
    @ValueSource(strings = {"apache/kafka:4.3.0", "apache/kafka-native:4.3.0"})
    void kafkaContainer(String image) throws Exception {
        try (KafkaContainer kafka = new KafkaContainer(image)) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
            assertEquals("4L6g3nShT-eMCtK--X86sw", RoundTrip.clusterId(kafka.getBootstrapServers()));
        }
    }

    @Test
    void confluentKafkaContainer() throws Exception {
        try (ConfluentKafkaContainer kafka = new ConfluentKafkaContainer("confluentinc/cp-kafka:7.6.0")) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"5.4.3", "7.2.0", "7.6.0"})
    @SuppressWarnings("deprecation")
    void olderKafkaContainer(String tag) throws Exception {
        DockerImageName image = DockerImageName.parse("confluentinc/cp-kafka").withTag(tag);
        try (var kafka = new org.testcontainers.containers.KafkaContainer(image)) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"7.2.0", "7.6.0"})
    @SuppressWarnings("deprecation")
    void olderKafkaContainerWithKraft(String tag) throws Exception {
        DockerImageName image = DockerImageName.parse("confluentinc/cp-kafka").withTag(tag);
        try (var kafka = new org.testcontainers.containers.KafkaContainer(image).withKraft()) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
        }
    }

    @Test
    void imageUnderItsOwnName() throws Exception {
        try (var kafka = new KafkaContainer(FAUXKA.asCompatibleSubstituteFor("apache/kafka"))) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
        }
    }

    /** As the module's own tests configure SASL: the users of PLAIN in the variable of the listener's JAAS config. */
    @Test
    void kafkaContainerWithSasl() throws Exception {
        String module = "org.apache.kafka.common.security.plain.PlainLoginModule required";
        try (KafkaContainer kafka = new KafkaContainer("apache/kafka:4.3.0")
            .withEnv(
                "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP",
                "BROKER:PLAINTEXT,PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT")
            .withEnv("KAFKA_LISTENER_NAME_PLAINTEXT_SASL_ENABLED_MECHANISMS", "PLAIN")
            .withEnv(
                "KAFKA_LISTENER_NAME_PLAINTEXT_PLAIN_SASL_JAAS_CONFIG", module + " user_alice=\"secret\";")) {
            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers(), Map.of(
                "security.protocol", "SASL_PLAINTEXT",
                "sasl.mechanism", "PLAIN",
                "sasl.jaas.config", module + " username=\"alice\" password=\"secret\";"));
        }
    }

    @Test
    void anotherContainerReachesTheListenerByItsAlias() throws Exception {
        try (Network network = Network.newNetwork();
            KafkaContainer kafka = new KafkaContainer("apache/kafka:4.3.0").withListener("kafka:19092").withNetwork(network);
            GenericContainer<?> client = clientContainer(network)) {
            kafka.start();
            client.start();

            ExecResult metadata = client.execInContainer("fauxka", "health", "--host", "kafka", "--port", "19092");

            assertEquals(0, metadata.getExitCode(), metadata.getStderr());
            RoundTrip.run(kafka.getBootstrapServers());
            assertTrue(kafka.getLogs().contains("TC-0://kafka:19092"), kafka.getLogs());
        }
    }

    @Test
    void startsAgainAfterAStop() throws Exception {
        try (KafkaContainer kafka = new KafkaContainer("apache/kafka:4.3.0")) {
            kafka.start();
            RoundTrip.run(kafka.getBootstrapServers());
            kafka.stop();

            kafka.start();

            RoundTrip.run(kafka.getBootstrapServers());
        }
    }

    @Test
    void startInParallel() throws Exception {
        var brokers = Stream.generate(() -> new KafkaContainer("apache/kafka:4.3.0")).limit(4).toList();
        try {
            Startables.deepStart(brokers).join();

            for (KafkaContainer broker : brokers) {
                RoundTrip.run(broker.getBootstrapServers());
            }
        } finally {
            brokers.forEach(KafkaContainer::stop);
        }
    }

    private static GenericContainer<?> clientContainer(Network network) {
        return new GenericContainer<>(FAUXKA).withNetwork(network).withCommand("sh", "-c", "sleep 600");
    }
}
