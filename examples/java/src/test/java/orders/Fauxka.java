package orders;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A broker in its own process, on free ports, and its admin API. `fauxka` must be on the PATH. */
final class Fauxka implements AutoCloseable {
    private static final Duration START_MAX = Duration.ofSeconds(30);
    private static final Duration ANSWER_MAX = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http = HttpClient.newHttpClient();
    private final Path folder;
    private final Process process;
    private final JsonNode ready;

    /** Starts a broker with these options of `fauxka serve`. */
    Fauxka(String... options) throws IOException, InterruptedException {
        folder = Files.createTempDirectory("fauxka");
        Path readyFile = folder.resolve("ready.json");
        List<String> command = new ArrayList<>(List.of("fauxka", "serve", "--port", "0", "--admin-port", "0"));
        command.addAll(List.of("--ready-file", readyFile.toString(), "--tls-dir", folder.toString()));
        command.addAll(List.of(options));
        process = new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
        ready = waitUntilReady(readyFile);
    }

    /** The value for a client's bootstrap.servers. */
    String bootstrapServers() {
        return ready.get("bootstrap").asText();
    }

    /** The trust store with the authority of a broker with TLS; its password is "changeit". */
    String trustStore() {
        return folder.resolve("truststore.p12").toString();
    }

    JsonNode post(String path, String body) throws IOException, InterruptedException {
        return answer(request(path)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build());
    }

    JsonNode get(String path) throws IOException, InterruptedException {
        return answer(request(path).GET().build());
    }

    JsonNode delete(String path) throws IOException, InterruptedException {
        return answer(request(path).DELETE().build());
    }

    @Override
    public void close() throws IOException, InterruptedException {
        process.destroy();
        if (!process.waitFor(START_MAX.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
        }
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** Waits for the ready file, which is created, complete, when clients can connect. */
    private JsonNode waitUntilReady(Path readyFile) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + START_MAX.toNanos();
        while (!Files.exists(readyFile)) {
            if (!process.isAlive() || System.nanoTime() > deadline) {
                process.destroyForcibly();
                throw new IOException("no broker: " + Files.readString(folder.resolve("log")));
            }
            Thread.sleep(10);
        }
        return JSON.readTree(readyFile.toFile());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://" + ready.get("admin").asText() + path)).timeout(ANSWER_MAX);
    }

    private JsonNode answer(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() >= 300) {
            throw new IOException(request + ": " + response.statusCode() + " " + response.body());
        }
        return JSON.readTree(response.body());
    }
}
