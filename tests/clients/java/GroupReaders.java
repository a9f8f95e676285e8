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
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Readers of one topic behind a pipe: one JSON object a line comes in, {"reader": name, "call": name, ...arguments}, and one goes
 * out, {"result": ...} or {"error": words}. "open" and "open_share" start a reader with the properties that they have.
 *
 * <p>Run by: java -cp "jars/*" GroupReaders.java
 */
public final class GroupReaders {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** A consumer, or a share consumer. */
    private interface Reader {
        Iterable<ConsumerRecord<byte[], byte[]>> poll(Duration wait);

        void call(JsonNode call);

        void close();
    }

    public static void main(String[] args) throws Exception {
        Map<String, Reader> readers = new HashMap<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("result", call(readers, JSON.readTree(line)));
            } catch (Exception failure) {
                answer.put("error", String.valueOf(failure));
            }
            out.println(answer);
        }
        readers.values().forEach(Reader::close);
    }

    private static JsonNode call(Map<String, Reader> readers, JsonNode call) {
        String name = call.get("reader").asText();
        switch (call.get("call").asText()) {
            case "open" -> readers.put(name, new Consumer(call));
            case "open_share" -> readers.put(name, new ShareConsumer(call));
            case "poll" -> {
                ArrayNode places = JSON.createArrayNode();
                for (ConsumerRecord<byte[], byte[]> each : readers.get(name).poll(Duration.ofMillis(call.get("wait_ms").asLong()))) {
                    places.addArray().add(each.partition()).add(each.offset());
                }
                return places;
            }
            case "close" -> readers.remove(name).close();
            default -> readers.get(name).call(call);
        }
        return JSON.nullNode();
    }

    private static Map<String, Object> config(JsonNode call) {
        Map<String, Object> config = new HashMap<>();
        call.get("properties").properties().forEach(each -> config.put(each.getKey(), each.getValue().asText()));
        return config;
    }

    private static List<String> topics(JsonNode call) {
        return List.of(call.get("topic").asText());
    }

    private static final class Consumer implements Reader {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final String topic;

        Consumer(JsonNode call) {
            consumer = new KafkaConsumer<>(config(call), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            topic = call.get("topic").asText();
            consumer.subscribe(topics(call));
        }

        @Override
        public Iterable<ConsumerRecord<byte[], byte[]>> poll(Duration wait) {
            return consumer.poll(wait);
        }

        @Override
        public void call(JsonNode call) {
            switch (call.get("call").asText()) {
                case "commit" -> {
                    TopicPartition partition = new TopicPartition(topic, call.get("partition").asInt());
                    consumer.commitSync(Map.of(partition, new OffsetAndMetadata(call.get("offset").asLong())));
                }
                // As if the process had ended: the group learns nothing of it.
                case "kill" -> consumer.close(CloseOptions.groupMembershipOperation(GroupMembershipOperation.REMAIN_IN_GROUP));
                default -> throw new IllegalArgumentException(call.toString());
            }
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    private static final class ShareConsumer implements Reader {
        private final KafkaShareConsumer<byte[], byte[]> consumer;
        private final List<ConsumerRecord<byte[], byte[]>> unacknowledged = new ArrayList<>();

        ShareConsumer(JsonNode call) {
            consumer = new KafkaShareConsumer<>(config(call), new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(topics(call));
        }

        @Override
        public Iterable<ConsumerRecord<byte[], byte[]>> poll(Duration wait) {
            List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
            // A poll with records that are not acknowledged is an error.
            if (unacknowledged.isEmpty()) {
                consumer.poll(wait).forEach(records::add);
                unacknowledged.addAll(records);
            }
            return records;
        }

        @Override
        public void call(JsonNode call) {
            if (!call.get("call").asText().equals("accept")) {
                throw new IllegalArgumentException(call.toString());
            }
            unacknowledged.forEach(each -> consumer.acknowledge(each, AcknowledgeType.ACCEPT));
            unacknowledged.clear();
            consumer.commitSync();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
