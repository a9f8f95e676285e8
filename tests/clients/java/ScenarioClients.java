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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The Java producers and consumers of a scenario behind a pipe: one JSON object a line comes in, {"process": name, "call": name,
 * ...arguments}, and one goes out, {"result": ...} or {"error": words}. One virtual machine serves all scenarios; "open" and
 * "open_consumer" start a process, "close" ends it.
 *
 * <p>Run by: java -cp "jars/*" ScenarioClients.java
 */
public final class ScenarioClients {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BACKOFF_MS = "20";
    // Longer than the backoff of metadata updates, which wait while a connection is being established: otherwise each attempt to reach
    // a dead leader would prevent the update that names the next one, until the batch expires (seen with 4.3.0).
    private static final String RECONNECT_BACKOFF_MAX_MS = "400";
    private static final String TOKEN_ENDPOINT = "sasl.oauthbearer.token.endpoint.url";
    // The longest wait for metadata, a coordinator, or the end of a transaction.
    private static final String BLOCK_MS_MAX = "30000";

    /** One process of a scenario. */
    private interface Process {
        JsonNode call(JsonNode call) throws Exception;

        void close();
    }

    public static void main(String[] args) throws Exception {
        Map<String, Process> processes = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("result", call(processes, JSON.readTree(line)));
            } catch (Exception failure) {
                answer.put("error", String.valueOf(failure));
            }
            out.println(answer);
        }
        processes.values().forEach(Process::close);
    }

    private static JsonNode call(Map<String, Process> processes, JsonNode call) throws Exception {
        String name = text(call, "process");
        switch (text(call, "call")) {
            case "open" -> processes.put(name, new Producer(call));
            case "open_consumer" -> processes.put(name, new Consumer(call));
            case "close" -> {
                Process ended = processes.remove(name);
                if (ended != null) {
                    ended.close();
                }
            }
            default -> {
                return processes.get(name).call(call);
            }
        }
        return JSON.nullNode();
    }

    private static Map<String, Object> commonConfig(JsonNode call) {
        Map<String, Object> config = new HashMap<>(Map.of(
            "bootstrap.servers", text(call, "bootstrap"),
            "client.id", text(call, "client_id"),
            "retry.backoff.ms", BACKOFF_MS,
            "retry.backoff.max.ms", BACKOFF_MS,
            "reconnect.backoff.ms", BACKOFF_MS,
            "reconnect.backoff.max.ms", RECONNECT_BACKOFF_MAX_MS));
        call.path("properties").properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
        if (config.containsKey(TOKEN_ENDPOINT)) {
            // The client refuses all other endpoints.
            System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", (String) config.get(TOKEN_ENDPOINT));
        }
        return config;
    }

    private static String text(JsonNode call, String name) {
        return call.get(name).asText();
    }

    /** A producer. */
    private static final class Producer implements Process {
        // Long enough for the events of a batch to be handed over, so that they go out together: the first ones while classes load.
        private static final String LINGER_MS = "100";

        /** What was sent as one batch. */
        private record Sent(String batch, List<Future<RecordMetadata>> answers) {}

        private final Map<String, Object> config;
        private final String topic;
        private KafkaProducer<String, String> producer;
        private final List<Sent> sent = new ArrayList<>();

        Producer(JsonNode call) {
            topic = text(call, "topic");
            config = commonConfig(call);
            if (call.hasNonNull("ca")) {
                config.put("security.protocol", "SSL");
                config.put("ssl.truststore.type", "PEM");
                config.put("ssl.truststore.location", text(call, "ca"));
            }
            config.put("enable.idempotence", text(call, "idempotent"));
            config.put("acks", text(call, "acks"));
            config.put("linger.ms", LINGER_MS);
            config.put("request.timeout.ms", text(call, "request_ms"));
            config.put("delivery.timeout.ms", text(call, "delivery_ms"));
            config.put("max.block.ms", BLOCK_MS_MAX);
            if (call.hasNonNull("transactional_id")) {
                config.put("transactional.id", text(call, "transactional_id"));
            }
            start();
        }

        private void start() {
            sent.clear();
            producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
            if (config.containsKey("transactional.id")) {
                producer.initTransactions();
            }
        }

        @Override
        public JsonNode call(JsonNode call) throws Exception {
            switch (text(call, "call")) {
                case "send" -> send(call);
                case "settle" -> {
                    return settle(call.get("timeout_ms").asLong());
                }
                case "begin_transaction" -> producer.beginTransaction();
                case "end_transaction" -> {
                    return JSON.getNodeFactory().textNode(endTransaction(call.get("commit").asBoolean()));
                }
                case "restart" -> {
                    close();
                    config.put("client.id", text(call, "client_id"));
                    start();
                }
                default -> throw new IllegalArgumentException(call.toString());
            }
            return JSON.nullNode();
        }

        private void send(JsonNode call) {
            List<ProducerRecord<String, String>> records = new ArrayList<>();
            for (JsonNode event : call.get("events")) {
                ProducerRecord<String, String> made =
                    new ProducerRecord<>(topic, call.get("partition").asInt(), null, text(event, "value"));
                event.get("headers").properties().forEach(
                    each -> made.headers().add(each.getKey(), each.getValue().asText().getBytes(StandardCharsets.UTF_8)));
                records.add(made);
            }
            // Made before the first is handed over, from when the client counts linger.ms.
            List<Future<RecordMetadata>> answers = new ArrayList<>();
            for (ProducerRecord<String, String> record : records) {
                answers.add(producer.send(record));
            }
            sent.add(new Sent(text(call, "batch"), answers));
        }

        /** Returns one answer for each batch that was sent since the start: its first offset, an error's name, or neither. */
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

        private String endTransaction(boolean isCommit) {
            try {
                if (isCommit) {
                    producer.commitTransaction();
                } else {
                    producer.abortTransaction();
                }
            } catch (KafkaException failure) {
                return Errors.forException(failure).name();
            }
            return Errors.NONE.name();
        }

        @Override
        public void close() {
            producer.close(Duration.ZERO);
        }
    }

    /** A read_committed consumer of partition 0. */
    private static final class Consumer implements Process {
        private static final Duration POLL = Duration.ofMillis(100);
        // A consumer that is closed while it looks for its coordinator leaves no group: the next member waits for the end of the session.
        // This is the shortest that a broker accepts (group.min.session.timeout.ms).
        private static final String SESSION_MS = "6000";

        private final KafkaConsumer<String, String> consumer;
        private final TopicPartition partition;
        private final boolean isInGroup;
        private final String header;
        private final Set<String> seen = new HashSet<>();

        Consumer(JsonNode call) {
            header = text(call, "header");
            isInGroup = call.hasNonNull("group");
            Map<String, Object> config = commonConfig(call);
            config.put("isolation.level", "read_committed");
            config.put("enable.auto.commit", "false");
            config.put("auto.offset.reset", "earliest");
            config.put("fetch.max.wait.ms", String.valueOf(POLL.toMillis()));
            config.put("default.api.timeout.ms", BLOCK_MS_MAX);
            if (isInGroup) {
                config.put("group.id", text(call, "group"));
                config.put("session.timeout.ms", SESSION_MS);
            }
            consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
            partition = new TopicPartition(text(call, "topic"), 0);
            if (isInGroup) {
                consumer.subscribe(List.of(partition.topic()));
            } else {
                consumer.assign(List.of(partition));
            }
        }

        @Override
        public JsonNode call(JsonNode call) {
            switch (text(call, "call")) {
                case "read_error" -> {
                    return JSON.getNodeFactory().textNode(readError(call.get("timeout_ms").asLong()));
                }
                case "read_until" -> {
                    return readUntil(call);
                }
                case "commit" -> commit(call.get("offset"));
                default -> consumer.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.REMAIN_IN_GROUP));
            }
            return JSON.nullNode();
        }

        private void commit(JsonNode offset) {
            if (!isInGroup) {
                return;
            }
            if (offset.isNull()) {
                consumer.commitSync();
            } else {
                consumer.commitSync(Map.of(partition, new OffsetAndMetadata(offset.asLong())));
            }
        }

        /** Polls until all these events were seen, or until the timeout; returns the events that were read, in order. */
        private ArrayNode readUntil(JsonNode call) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(call.get("timeout_ms").asLong());
            Set<String> awaited = new HashSet<>();
            call.get("events").forEach(each -> awaited.add(each.asText()));
            ArrayNode events = JSON.createArrayNode();
            while (!seen.containsAll(awaited) && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                    String event = new String(record.headers().lastHeader(header).value(), StandardCharsets.UTF_8);
                    seen.add(event);
                    events.add(event);
                }
            }
            return events;
        }

        /** Polls until an error, and returns its name; NONE after the timeout. */
        private String readError(long timeoutMs) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            while (System.nanoTime() < deadline) {
                try {
                    consumer.poll(POLL);
                } catch (KafkaException failure) {
                    return Errors.forException(failure).name();
                }
            }
            return Errors.NONE.name();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
