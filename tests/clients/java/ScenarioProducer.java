import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The Java producer of a scenario behind a pipe: one JSON object a line comes in, {"call": name, ...arguments}, and one goes out,
 * {"result": ...} or {"error": words}. One virtual machine serves all scenarios and their processes; "open" begins one.
 *
 * <p>Run by: java -cp "jars/*" ScenarioProducer.java
 */
public final class ScenarioProducer {
    private static final ObjectMapper JSON = new ObjectMapper();
    // Long enough for the events of a batch to be handed over, so that they go out together: the first ones while classes load.
    private static final String LINGER_MS = "100";
    private static final String BACKOFF_MS = "20";
    // Longer than the backoff of metadata updates, which wait while a connection is being established: otherwise each attempt to reach
    // a dead leader would prevent the update that names the next one, until the batch expires (seen with 4.3.0).
    private static final String RECONNECT_BACKOFF_MAX_MS = "400";

    /** What was sent as one batch. */
    private record Sent(String batch, List<Future<RecordMetadata>> answers) {}

    private Map<String, Object> config;
    private String topic;
    private KafkaProducer<String, String> producer;
    private final List<Sent> sent = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        Map<String, ScenarioProducer> processes = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode call = JSON.readTree(line);
            String process = call.get("process").asText();
            out.println(processes.computeIfAbsent(process, name -> new ScenarioProducer()).answer(call));
        }
        processes.values().forEach(ScenarioProducer::end);
    }

    private ObjectNode answer(JsonNode call) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            answer.set("result", call(call));
        } catch (Exception failure) {
            answer.put("error", String.valueOf(failure));
        }
        return answer;
    }

    private JsonNode call(JsonNode call) throws Exception {
        return switch (call.get("call").asText()) {
            case "open" -> open(call);
            case "send" -> send(call);
            case "settle" -> settle(call.get("timeout_ms").asLong());
            case "restart" -> restart(call);
            case "close" -> end();
            default -> throw new IllegalArgumentException(call.toString());
        };
    }

    private JsonNode open(JsonNode call) {
        topic = call.get("topic").asText();
        config = Map.of(
            "bootstrap.servers", call.get("bootstrap").asText(),
            "enable.idempotence", call.get("idempotent").asText(),
            "acks", call.get("acks").asText(),
            "linger.ms", LINGER_MS,
            "request.timeout.ms", call.get("request_ms").asText(),
            "delivery.timeout.ms", call.get("delivery_ms").asText(),
            "retry.backoff.ms", BACKOFF_MS,
            "retry.backoff.max.ms", BACKOFF_MS,
            "reconnect.backoff.ms", BACKOFF_MS,
            "reconnect.backoff.max.ms", RECONNECT_BACKOFF_MAX_MS);
        return begin(call);
    }

    private JsonNode begin(JsonNode call) {
        sent.clear();
        Map<String, Object> named = new HashMap<>(config);
        named.put("client.id", call.get("client_id").asText());
        producer = new KafkaProducer<>(named, new StringSerializer(), new StringSerializer());
        return JSON.nullNode();
    }

    private JsonNode send(JsonNode call) {
        List<ProducerRecord<String, String>> records = new ArrayList<>();
        for (JsonNode event : call.get("events")) {
            ProducerRecord<String, String> made = new ProducerRecord<>(topic, call.get("partition").asInt(), null, event.get("value").asText());
            event.get("headers").properties().forEach(
                each -> made.headers().add(each.getKey(), each.getValue().asText().getBytes(StandardCharsets.UTF_8)));
            records.add(made);
        }
        // Made before the first is handed over, from when the client counts linger.ms.
        List<Future<RecordMetadata>> answers = new ArrayList<>();
        for (ProducerRecord<String, String> record : records) {
            answers.add(producer.send(record));
        }
        sent.add(new Sent(call.get("batch").asText(), answers));
        return JSON.nullNode();
    }

    /** Returns one answer for each batch that was sent since the producer began: its first offset, an error's name, or neither. */
    private JsonNode settle(long timeoutMs) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        ArrayNode all = JSON.createArrayNode();
        for (Sent each : sent) {
            ObjectNode node = all.addObject().put("batch", each.batch());
            try {
                for (Future<RecordMetadata> answer : each.answers()) {
                    long offset = answer.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS).offset();
                    if (!node.has("offset")) {
                        node.put("offset", offset);
                    }
                }
            } catch (ExecutionException failure) {
                node.put("error", Errors.forException(failure.getCause()).name());
            } catch (TimeoutException silence) {
                node.put("silent", true);
            }
        }
        return all;
    }

    private JsonNode restart(JsonNode call) {
        end();
        return begin(call);
    }

    private JsonNode end() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
        return JSON.nullNode();
    }
}
