package modules;

import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** The program of docs/containers.md: it compiles, and is not run. KafkaModulesTest does the same with another name. */
final class PageProgram {
    private PageProgram() {
    }

    static KafkaContainer start() {
        KafkaContainer kafka = new KafkaContainer(
            DockerImageName.parse("fauxka:8.3.0").asCompatibleSubstituteFor("apache/kafka"));
        kafka.start();
        return kafka;
    }
}
