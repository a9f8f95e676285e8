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
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client behind a pipe: one JSON object a line comes in, {"call": name, ...arguments}, and one goes out, {"result": ...} or
 * {"error": Kafka's code, "message": ...}. Keys, values and header values are base64 or null. One virtual machine serves all tests, since
 * its start takes longer than most of them.
 *
 * <p>Run by: java -cp "jars/*" ClientDriver.java BOOTSTRAP REQUEST_BYTES_MAX STEP_MS_MAX HEARTBEAT_MS
 */
public final class ClientDriver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(100);

    private final String bootstrap;
    private final String requestBytesMax;
    private final Duration step;
    private final String heartbeatMs;
    private final String sessionMs;
    private final Admin admin;
    private final Map<Integer, RunningProducer> producers = new HashMap<>();
    private int lastProducer;
    private final Map<Integer, KafkaConsumer<byte[], byte[]>> members = new HashMap<>();

    /** A producer of one topic, with the response to each record. */
    private record RunningProducer(
        String topic, KafkaProducer<byte[], byte[]> producer, List<Future<RecordMetadata>> responses) {}

    private ClientDriver(String[] args) {
        bootstrap = args[0];
        requestBytesMax = args[1];
        step = Duration.ofMillis(Long.parseLong(args[2]));
        heartbeatMs = args[3];
        sessionMs = args[4];
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    public static void main(String[] args) throws Exception {
        ClientDriver driver = new ClientDriver(args);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(driver.answer(JSON.readTree(line)));
        }
        driver.members.values().forEach(KafkaConsumer::close);
        driver.admin.close();
    }

    private ObjectNode answer(JsonNode call) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        try {
            answer.set("result", call(call));
        } catch (ExecutionException | CompletionException failure) {
            refuse(answer, failure.getCause());
        } catch (Exception failure) {
            refuse(answer, failure);
        }
        return answer;
    }

    private static void refuse(ObjectNode answer, Throwable failure) {
        answer.put("error", Errors.forException(failure).code()).put("message", String.valueOf(failure));
    }

    private JsonNode call(JsonNode call) throws Exception {
        return switch (call.get("call").asText()) {
            case "start_producer" -> startProducer(call);
            case "send" -> send(call);
            case "wait" -> waitForOffsets(call);
            case "close_producer" -> closeProducer(call);
            case "consume" -> consume(text(call, "topic"));
            case "offset_for_timestamp" -> offsetForTimestamp(call);
            case "producer_states" -> producerStates(partition(call));
            case "join" -> join(call);
            case "poll" -> stored(member(call).poll(POLL));
            case "assigned_partitions" -> assignedPartitions(call);
            case "commit" -> commit(call);
            case "leave" -> leave(call);
            case "create_topic" -> createTopic(call);
            case "delete_topic" -> done(admin.deleteTopics(List.of(text(call, "topic"))).all());
            case "add_partitions" -> addPartitions(call);
            case "partition_counts" -> partitionCounts();
            case "topic_config" -> topicConfig(call);
            case "alter_topic_config" -> alterTopicConfig(call);
            default -> throw new IllegalArgumentException(call.toString());
        };
    }

    private JsonNode startProducer(JsonNode call) {
        Map<String, Object> config = Map.of(
            "bootstrap.servers", bootstrap,
            "enable.idempotence", "true",
            "compression.type", text(call, "compression"),
            "max.request.size", requestBytesMax,
            "request.timeout.ms", String.valueOf(step.toMillis() / 2),
            "delivery.timeout.ms", String.valueOf(step.toMillis()),
            "max.block.ms", text(call, "patience_ms"));
        var producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
        producers.put(++lastProducer, new RunningProducer(text(call, "topic"), producer, new ArrayList<>()));
        return JSON.getNodeFactory().numberNode(lastProducer);
    }

    private JsonNode send(JsonNode call) throws Exception {
        RunningProducer running = producer(call);
        for (JsonNode record : call.get("records")) {
            running.responses().add(running.producer().send(recordOf(running.topic(), record)));
        }
        return JSON.nullNode();
    }

    private JsonNode waitForOffsets(JsonNode call) throws Exception {
        ArrayNode offsets = JSON.createArrayNode();
        for (Future<RecordMetadata> each : producer(call).responses()) {
            offsets.add(each.get().offset());
        }
        return offsets;
    }

    private JsonNode closeProducer(JsonNode call) {
        producers.remove(call.get("producer").asInt()).producer().close();
        return JSON.nullNode();
    }

    private RunningProducer producer(JsonNode call) {
        return producers.get(call.get("producer").asInt());
    }

    private static ProducerRecord<byte[], byte[]> recordOf(String topic, JsonNode record) throws Exception {
        ProducerRecord<byte[], byte[]> made = new ProducerRecord<>(
            topic,
            record.get("partition").asInt(),
            record.get("timestamp_ms").asLong(),
            record.get("key").binaryValue(),
            record.get("value").binaryValue());
        for (JsonNode header : record.get("headers")) {
            made.headers().add(header.get(0).asText(), header.get(1).binaryValue());
        }
        return made;
    }

    private JsonNode consume(String topic) {
        ArrayNode all = JSON.createArrayNode();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(Map.of())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(each -> new TopicPartition(topic, each.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            long count = consumer.endOffsets(partitions).values().stream().mapToLong(Long::longValue).sum();
            long deadline = System.nanoTime() + step.toNanos();
            while (all.size() < count && System.nanoTime() < deadline) {
                all.addAll(stored(consumer.poll(POLL)));
            }
        }
        return all;
    }

    private static ArrayNode stored(Iterable<ConsumerRecord<byte[], byte[]>> records) {
        ArrayNode all = JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            ObjectNode node = all.addObject()
                .put("offset", record.offset())
                .put("partition", record.partition())
                .put("timestamp_ms", record.timestamp())
                .put("key", record.key())
                .put("value", record.value());
            ArrayNode headers = node.putArray("headers");
            for (Header header : record.headers()) {
                headers.addArray().add(header.key()).add(header.value());
            }
        }
        return all;
    }

    private JsonNode offsetForTimestamp(JsonNode call) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(Map.of())) {
            TopicPartition partition = partition(call);
            OffsetAndTimestamp found =
                consumer.offsetsForTimes(Map.of(partition, call.get("timestamp_ms").asLong())).get(partition);
            return found == null ? JSON.nullNode() : JSON.getNodeFactory().numberNode(found.offset());
        }
    }

    private JsonNode producerStates(TopicPartition partition) throws Exception {
        ArrayNode states = JSON.createArrayNode();
        for (ProducerState state :
                admin.describeProducers(List.of(partition)).partitionResult(partition).get().activeProducers()) {
            states.addObject()
                .put("producer_id", state.producerId())
                .put("producer_epoch", state.producerEpoch())
                .put("last_sequence", state.lastSequence());
        }
        return states;
    }

    private JsonNode join(JsonNode call) {
        int number = members.size();
        Map<String, Object> config = new HashMap<>(Map.of("group.id", text(call, "group")));
        // Of the consumer protocol: its name, an instance id, and a regular expression in place of the topic's name.
        if (call.has("protocol")) config.put("group.protocol", text(call, "protocol"));
        if (call.has("instance")) config.put("group.instance.id", text(call, "instance"));
        KafkaConsumer<byte[], byte[]> consumer = consumer(config);
        if (call.has("pattern")) consumer.subscribe(new SubscriptionPattern(text(call, "pattern")));
        else consumer.subscribe(List.of(text(call, "topic")));
        members.put(number, consumer);
        return JSON.getNodeFactory().numberNode(number);
    }

    private JsonNode assignedPartitions(JsonNode call) {
        ArrayNode partitions = JSON.createArrayNode();
        member(call).assignment().forEach(each -> partitions.add(each.partition()));
        return partitions;
    }

    private JsonNode commit(JsonNode call) {
        member(call).commitSync(step);
        return JSON.nullNode();
    }

    private JsonNode leave(JsonNode call) {
        member(call).close();
        return JSON.nullNode();
    }

    private KafkaConsumer<byte[], byte[]> member(JsonNode call) {
        return members.get(call.get("member").asInt());
    }

    private KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        if (!"consumer".equals(config.get("group.protocol"))) {
            config.put("heartbeat.interval.ms", heartbeatMs);
            config.put("session.timeout.ms", sessionMs);
        }
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private JsonNode createTopic(JsonNode call) throws Exception {
        Map<String, String> configs = new HashMap<>();
        call.get("configs").properties().forEach(each -> configs.put(each.getKey(), each.getValue().asText()));
        NewTopic topic = new NewTopic(text(call, "topic"), call.get("partition_count").asInt(), (short) 1);
        return done(admin.createTopics(List.of(topic.configs(configs))).all());
    }

    private JsonNode addPartitions(JsonNode call) throws Exception {
        NewPartitions total = NewPartitions.increaseTo(call.get("total").asInt());
        return done(admin.createPartitions(Map.of(text(call, "topic"), total)).all());
    }

    private JsonNode partitionCounts() throws Exception {
        ObjectNode counts = JSON.createObjectNode();
        // Each name is described alone: one that is deleted after the listing must not fail the others.
        for (var each : admin.describeTopics(admin.listTopics().names().get()).topicNameValues().entrySet()) {
            try {
                TopicDescription description = each.getValue().get();
                counts.put(each.getKey(), description.partitions().size());
            } catch (ExecutionException failure) {
                if (Errors.forException(failure.getCause()) != Errors.UNKNOWN_TOPIC_OR_PARTITION) {
                    throw failure;
                }
            }
        }
        return counts;
    }

    private JsonNode topicConfig(JsonNode call) throws Exception {
        ConfigResource topic = topicResource(call);
        String value = admin.describeConfigs(List.of(topic)).all().get().get(topic).get(text(call, "key")).value();
        return JSON.getNodeFactory().textNode(value);
    }

    private JsonNode alterTopicConfig(JsonNode call) throws Exception {
        ConfigEntry entry = new ConfigEntry(text(call, "key"), text(call, "value"));
        AlterConfigOp set = new AlterConfigOp(entry, AlterConfigOp.OpType.SET);
        return done(admin.incrementalAlterConfigs(Map.of(topicResource(call), List.of(set))).all());
    }

    private static ConfigResource topicResource(JsonNode call) {
        return new ConfigResource(ConfigResource.Type.TOPIC, text(call, "topic"));
    }

    private static TopicPartition partition(JsonNode call) {
        return new TopicPartition(text(call, "topic"), call.get("partition").asInt());
    }

    private static String text(JsonNode call, String name) {
        return call.get(name).asText();
    }

    private static JsonNode done(Future<Void> future) throws Exception {
        future.get();
        return JSON.nullNode();
    }
}
