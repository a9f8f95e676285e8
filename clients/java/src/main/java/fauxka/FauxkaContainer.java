package fauxka;

import com.github.dockerjava.api.command.InspectContainerResponse;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;

/**
 * A container with a broker or several.
 *
 * <p>The host's port is known only after the start of the container, and the broker has to advertise it. So the broker
 * waits for a file with its addresses. Containers of the same network reach it at port 9093 of its alias, and several
 * nodes at the ports from 29092 on.
 */
public final class FauxkaContainer extends GenericContainer<FauxkaContainer> {
    private static final String IMAGE = "fauxka:0.1.0";
    private static final int HOST_PORT = 9092;
    private static final int NETWORK_PORT = 9093;
    private static final int ADMIN_PORT = 9099;
    /** The ports of the first of several nodes. Each further node has the next ones. */
    private static final int HOST_PORT_OF_SEVERAL = 19092;
    private static final int NETWORK_PORT_OF_SEVERAL = 29092;
    private static final String ADVERTISED_FILE = "/tmp/advertised";

    private final int nodes;
    private final int hostPort;
    private final int networkPort;
    private RemoteBroker broker;

    public FauxkaContainer() {
        this(IMAGE, 1);
    }

    /** image: name and tag. nodes: how many, up to 16. */
    public FauxkaContainer(String image, int nodes) {
        super(image);
        this.nodes = nodes;
        hostPort = nodes == 1 ? HOST_PORT : HOST_PORT_OF_SEVERAL;
        networkPort = nodes == 1 ? NETWORK_PORT : NETWORK_PORT_OF_SEVERAL;
        addExposedPort(ADMIN_PORT);
        IntStream.range(0, nodes).forEach(node -> addExposedPort(hostPort + node));
        withEnv("FAUXKA_NODES", String.valueOf(nodes));
        withEnv("KAFKA_LISTENERS", "HOST://0.0.0.0:%d,NETWORK://0.0.0.0:%d".formatted(hostPort, networkPort));
        withEnv("KAFKA_LISTENER_SECURITY_PROTOCOL_MAP", "HOST:PLAINTEXT,NETWORK:PLAINTEXT");
        withEnv("FAUXKA_ADVERTISED_FILE", ADVERTISED_FILE);
        // Each node logs Kafka's line when clients can connect.
        waitingFor(Wait.forLogMessage(".*started: Kafka Server started.*", nodes));
    }

    /** Sets a key of Kafka's broker configs, such as num.partitions. */
    public FauxkaContainer withConfig(String key, String value) {
        String variable = key.replace("_", "__").replace("-", "___").replace(".", "_").toUpperCase(Locale.ROOT);
        return withEnv("KAFKA_" + variable, value);
    }

    /** The value for a client's bootstrap.servers. */
    public String getBootstrapServers() {
        return published().collect(Collectors.joining(","));
    }

    /** The address of the admin API. */
    public String getAdminAddress() {
        return "http://" + getHost() + ":" + getMappedPort(ADMIN_PORT);
    }

    /** The admin API. Throws IllegalStateException before the start. */
    public RemoteBroker broker() {
        if (broker == null) {
            throw new IllegalStateException("the container has not started");
        }
        return broker;
    }

    @Override
    protected void containerIsStarting(InspectContainerResponse container) {
        List<String> addresses = published().toList();
        // The last alias is that of the test, if it has set one.
        String alias = getNetwork() == null
            ? container.getConfig().getHostName()
            : getNetworkAliases().get(getNetworkAliases().size() - 1);
        String lines = IntStream.range(0, nodes)
            .mapToObj(node -> "HOST://%s,NETWORK://%s:%d\n".formatted(addresses.get(node), alias, networkPort + node))
            .collect(Collectors.joining());
        broker = new RemoteBroker(getAdminAddress());
        copyFileToContainer(Transferable.of(lines), ADVERTISED_FILE);
    }

    private Stream<String> published() {
        return IntStream.range(0, nodes).mapToObj(node -> getHost() + ":" + getMappedPort(hostPort + node));
    }
}
