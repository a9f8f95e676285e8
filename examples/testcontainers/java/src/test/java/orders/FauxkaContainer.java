package orders;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import org.testcontainers.kafka.KafkaContainer;
import org.testcontainers.utility.DockerImageName;

/** A broker in a container: the module for Kafka, with the port of the admin API. */
final class FauxkaContainer extends KafkaContainer {
    private static final String IMAGE = System.getenv().getOrDefault("FAUXKA_IMAGE", "fauxka:0.1.0");
    private static final int ADMIN_PORT = 9099;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();

    FauxkaContainer() {
        super(DockerImageName.parse(IMAGE).asCompatibleSubstituteFor("apache/kafka"));
        addExposedPort(ADMIN_PORT);
    }

    /** Appends the next batch for a topic, and closes the connection in place of a response. Returns the rule. */
    JsonNode loseAck(String topic) throws IOException, InterruptedException {
        return post("/v1/rules", """
            {"match": {"api": "Produce", "topic": "%s"}, "point": "applied", "action": {"kind": "close"}}
            """.formatted(topic));
    }

    /** What became of each batch of a topic. */
    JsonNode verdict(String topic) throws IOException, InterruptedException {
        return send(request("/v1/verdict?topic=" + topic).GET());
    }

    JsonNode post(String path, String body) throws IOException, InterruptedException {
        return send(request(path).POST(BodyPublishers.ofString(body)));
    }

    private HttpRequest.Builder request(String path) {
        String address = "http://%s:%d%s".formatted(getHost(), getMappedPort(ADMIN_PORT), path);
        return HttpRequest.newBuilder(URI.create(address)).header("Content-Type", "application/json");
    }

    private JsonNode send(HttpRequest.Builder request) throws IOException, InterruptedException {
        HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new IOException(response.body());
        }
        return JSON.readTree(response.body());
    }
}
