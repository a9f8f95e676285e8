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
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The Java client's transactional producer behind a pipe: a JSON object a line comes in, {"do": ...}, and one goes out, {"result": ...} or
 * {"error": Kafka's name of it}.
 *
 * <p>Run by: java -cp "jars/*" TransactionalProgram.java BOOTSTRAP TRANSACTIONAL_ID
 */
public final class TransactionalProgram {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration POLL = Duration.ofMillis(100);

    private final String bootstrap;
    private final KafkaProducer<String, String> producer;

    private TransactionalProgram(String bootstrap, String transactionalId) {
        this.bootstrap = bootstrap;
        producer = new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrap, "transactional.id", transactionalId, "max.block.ms", "30000"),
            new StringSerializer(),
            new StringSerializer());
    }

    public static void main(String[] args) throws Exception {
        TransactionalProgram program = new TransactionalProgram(args[0], args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer.set("result", program.call(JSON.readTree(line)));
            } catch (ExecutionException failure) {
                answer.put("error", Errors.forException(failure.getCause()).name());
            } catch (Exception failure) {
                answer.put("error", nameOf(failure));
            }
            out.println(answer);
        }
    }

    private static String nameOf(Exception failure) {
        Errors error = Errors.forException(failure);
        return error == Errors.UNKNOWN_SERVER_ERROR ? String.valueOf(failure) : error.name();
    }

    private JsonNode call(JsonNode call) throws Exception {
        switch (call.get("do").asText()) {
            case "init" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "send" -> send(call);
            case "offsets" -> producer.sendOffsetsToTransaction(
                Map.of(partition(call), new OffsetAndMetadata(call.get("offset").asLong())),
                new ConsumerGroupMetadata(text(call, "group")));
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "read" -> {
                return read(call);
            }
            case "committed" -> {
                return JSON.valueToTree(committed(call));
            }
            default -> throw new IllegalArgumentException(call.toString());
        }
        return JSON.nullNode();
    }

    private void send(JsonNode call) throws Exception {
        List<Future<RecordMetadata>> answers = new ArrayList<>();
        for (JsonNode value : call.get("values")) {
            answers.add(producer.send(new ProducerRecord<>(text(call, "topic"), 0, null, value.asText())));
        }
        for (Future<RecordMetadata> each : answers) {
            each.get();
        }
    }

    private JsonNode read(JsonNode call) {
        ArrayNode values = JSON.createArrayNode();
        try (KafkaConsumer<String, String> consumer = consumer(Map.of("isolation.level", text(call, "isolation")))) {
            TopicPartition partition = partition(call);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            while (consumer.position(partition) < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
                    values.add(record.value());
                }
            }
        }
        return values;
    }

    private long committed(JsonNode call) {
        TopicPartition partition = partition(call);
        try (KafkaConsumer<String, String> consumer = consumer(Map.of("group.id", text(call, "group")))) {
            OffsetAndMetadata found = consumer.committed(Set.of(partition)).get(partition);
            return found == null ? -1 : found.offset();
        }
    }

    private KafkaConsumer<String, String> consumer(Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", "false");
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    private static TopicPartition partition(JsonNode call) {
        return new TopicPartition(text(call, "topic"), 0);
    }

    private static String text(JsonNode call, String name) {
        return call.get(name).asText();
    }
}
