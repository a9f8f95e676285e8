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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Programs of the family with the Java client, any number at a time in one virtual machine (runtime.py).
 *
 * <p>The names of defects are those of defect.py; the twin has "none".
 */
public final class Programs {
    private static final String ORDERS = "orders";
    private static final String COPIES = "copies";
    private static final String GROUP = "copy";
    private static final TopicPartition PLACE = new TopicPartition(ORDERS, 0);
    private static final List<String> EVENTS = List.of("one coffee", "two teas", "three cakes");
    private static final List<List<String>> BATCHES = List.of(List.of("a1", "a2"), List.of("b1", "b2"));
    private static final int ATTEMPTS = 3;
    // As in clients/client.py, but for the first records of a virtual machine.
    private static final Map<String, Object> SHORT_CONNECTION = Map.of(
        "request.timeout.ms", 1000,
        "retry.backoff.ms", 20,
        "retry.backoff.max.ms", 200,
        "reconnect.backoff.ms", 20,
        "reconnect.backoff.max.ms", 200);
    private static final Map<String, Object> SHORT_SENDING =
        Map.of("delivery.timeout.ms", 5000, "max.block.ms", 6000);
    private static final Map<String, Object> SHORT_READING = Map.of(
        "session.timeout.ms", 3000,
        "heartbeat.interval.ms", 300,
        "max.poll.interval.ms", 3000,
        "default.api.timeout.ms", 6000);
    // Of a program that does not wait long enough.
    private static final Duration SHORT = Duration.ofMillis(800);
    private static final Duration POLL = Duration.ofMillis(200);
    // What an interrupted program has to close its clients.
    private static final long CLOSING_MS_MAX = 5000;

    private final String defect;
    private final String address;
    private final boolean isShort;
    private final long endNanos;

    private Programs(String defect, String address, boolean isShort, int seconds) {
        this.defect = defect;
        this.address = address;
        this.isShort = isShort;
        endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The clients log to it.
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t");
            start(() -> out.println(words[0] + "\t" + ended(words)));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Runs a program until its time is over, and returns its error, or nothing. */
    private static String ended(String[] words) {
        int seconds = Integer.parseInt(words[5]);
        Programs program = new Programs(words[2], words[3], words[4].equals("short"), seconds);
        String[] error = {"it did not end"};
        Thread thread = start(() -> error[0] = program.errorOf(words[1]));
        try {
            thread.join(TimeUnit.SECONDS.toMillis(seconds));
            thread.interrupt();
            thread.join(CLOSING_MS_MAX);
        } catch (InterruptedException impossible) {
            throw new IllegalStateException(impossible);
        }
        return error[0];
    }

    private static Thread start(Runnable runnable) {
        Thread thread = new Thread(runnable);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private String errorOf(String shape) {
        try {
            run(shape);
            return "";
        } catch (Exception error) {
            return String.valueOf(error).replaceAll("\\s+", " ");
        }
    }

    private void run(String shape) throws Exception {
        switch (shape) {
            case "plain producer" -> sendTogether(Map.of("enable.idempotence", false, "batch.size", 0));
            case "producer with requests in flight" -> sendTogether(Map.of("batch.size", 0));
            case "idempotent producer" -> sendEach();
            case "transactional producer" -> sendInTransactions();
            case "copier" -> copy();
            case "transactional copier" -> copyInTransactions();
            default -> throw new IllegalArgumentException(shape);
        }
    }

    private boolean has(String name) {
        return defect.equals(name);
    }

    // -- producers

    private void sendTogether(Map<String, Object> config) throws Exception {
        Map<String, Object> own = new HashMap<>(config);
        if (has("ACKS_0")) {
            own.put("acks", "0");
        }
        KafkaProducer<String, String> producer = producer(own);
        try {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (String event : EVENTS) {
                sent.add(producer.send(new ProducerRecord<>(ORDERS, 0, null, event)));
            }
            acknowledge(producer, sent);
        } finally {
            producer.close(has("NO_FLUSH") ? SHORT : Duration.ZERO);
        }
    }

    /** Waits until the records are written, as far as the program looks. */
    private void acknowledge(KafkaProducer<String, String> producer, List<Future<RecordMetadata>> sent)
        throws Exception {
        switch (defect) {
            case "REPORT_IGNORED" -> producer.flush();
            case "LAST_REPORT_ONLY" -> result(sent.get(sent.size() - 1));
            case "NO_FLUSH" -> { }
            default -> {
                for (Future<RecordMetadata> each : sent) {
                    result(each);
                }
            }
        }
    }

    private void sendEach() throws Exception {
        Map<String, Object> config = has("NOT_IDEMPOTENT") ? Map.of("enable.idempotence", false) : Map.of();
        KafkaProducer<String, String> producer = producer(config);
        try {
            for (String event : EVENTS) {
                send(producer, event);
            }
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    private void send(KafkaProducer<String, String> producer, String event) throws Exception {
        Future<RecordMetadata> sent = producer.send(new ProducerRecord<>(ORDERS, 0, null, event));
        try {
            if (has("NEW_PRODUCER")) {
                sent.get(SHORT.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                result(sent);
            }
        } catch (TimeoutException late) {
            KafkaProducer<String, String> other = producer(Map.of());
            try {
                result(other.send(new ProducerRecord<>(ORDERS, 0, null, event)));
            } finally {
                other.close(Duration.ZERO);
            }
        } catch (KafkaException error) {
            if (!has("ERROR_SWALLOWED")) {
                throw error;
            }
        }
    }

    private void sendInTransactions() throws Exception {
        KafkaProducer<String, String> producer = producer(Map.of("transactional.id", "writer"));
        try {
            producer.initTransactions();
            for (List<String> batch : BATCHES) {
                write(producer, batch);
            }
        } finally {
            producer.close(Duration.ZERO);
        }
    }

    /** Writes a batch, until its transaction is not aborted. */
    private void write(KafkaProducer<String, String> producer, List<String> batch) throws Exception {
        for (int left = ATTEMPTS - 1; ; left--) {
            producer.beginTransaction();
            try {
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (String event : batch) {
                    sent.add(producer.send(new ProducerRecord<>(ORDERS, 0, null, event)));
                }
                for (Future<RecordMetadata> each : sent) {
                    result(each);
                }
                commit(producer);
                return;
            } catch (KafkaException error) {
                if (left == 0) {
                    throw error;
                }
                producer.abortTransaction();
            }
            if (has("ABORT_IGNORED")) {
                return;
            }
        }
    }

    /** Commits the transaction, again if there is no result in time. What has no result then cannot be aborted. */
    private static void commit(KafkaProducer<String, String> producer) {
        for (int left = ATTEMPTS - 1; ; left--) {
            try {
                producer.commitTransaction();
                return;
            } catch (org.apache.kafka.common.errors.TimeoutException error) {
                if (left == 0) {
                    throw new IllegalStateException("the commit has no result", error);
                }
            }
        }
    }

    // -- consumers

    private void copy() throws Exception {
        KafkaProducer<String, String> producer = producer(Map.of());
        KafkaConsumer<String, String> consumer = consumer(Map.of());
        try {
            long next = committed(consumer);
            while (next < EVENTS.size()) {
                for (ConsumerRecord<String, String> record : polled(consumer)) {
                    copy(producer, consumer, record);
                    next = record.offset() + 1;
                }
            }
        } finally {
            close(producer, consumer);
        }
    }

    private void copy(
        KafkaProducer<String, String> producer,
        KafkaConsumer<String, String> consumer,
        ConsumerRecord<String, String> record) throws Exception {
        if (has("COMMIT_BEFORE")) {
            consumer.commitSync(after(record));
        }
        try {
            result(producer.send(new ProducerRecord<>(COPIES, 0, null, record.value())));
        } catch (KafkaException error) {
            if (!has("ERROR_SWALLOWED")) {
                throw error;
            }
        }
        if (!has("COMMIT_BEFORE")) {
            consumer.commitSync(after(record));
        }
    }

    private void copyInTransactions() throws Exception {
        KafkaProducer<String, String> producer = producer(Map.of("transactional.id", "copier"));
        KafkaConsumer<String, String> consumer = consumer(Map.of("isolation.level", "read_committed"));
        try {
            producer.initTransactions();
            long next = committed(consumer);
            while (next < EVENTS.size()) {
                for (ConsumerRecord<String, String> record : polled(consumer)) {
                    if (record.offset() != next) {
                        continue;
                    }
                    if (copyInTransaction(producer, consumer, record)) {
                        next++;
                    } else if (consumer.assignment().contains(PLACE)) {
                        consumer.seek(PLACE, next);
                    }
                }
            }
        } finally {
            close(producer, consumer);
        }
    }

    /** Copies a record, and returns whether it is copied, and not to be copied again. */
    private boolean copyInTransaction(
        KafkaProducer<String, String> producer,
        KafkaConsumer<String, String> consumer,
        ConsumerRecord<String, String> record) throws Exception {
        if (has("OFFSETS_BEFORE")) {
            consumer.commitSync(after(record));
        }
        producer.beginTransaction();
        try {
            result(producer.send(new ProducerRecord<>(COPIES, 0, null, record.value())));
            if (!has("OFFSETS_BEFORE") && !has("OFFSETS_OUTSIDE")) {
                producer.sendOffsetsToTransaction(after(record), consumer.groupMetadata());
            }
            commit(producer);
        } catch (KafkaException error) {
            producer.abortTransaction();
            return has("ABORT_IGNORED");
        }
        if (has("OFFSETS_OUTSIDE")) {
            consumer.commitSync(after(record));
        }
        return true;
    }

    private ConsumerRecords<String, String> polled(KafkaConsumer<String, String> consumer) {
        while (System.nanoTime() < endNanos) {
            ConsumerRecords<String, String> records = consumer.poll(POLL);
            if (!records.isEmpty()) {
                return records;
            }
        }
        throw new IllegalStateException("no record came");
    }

    private static Map<TopicPartition, OffsetAndMetadata> after(ConsumerRecord<String, String> record) {
        return Map.of(PLACE, new OffsetAndMetadata(record.offset() + 1));
    }

    private static long committed(KafkaConsumer<String, String> consumer) {
        OffsetAndMetadata found = consumer.committed(Set.of(PLACE)).get(PLACE);
        return found == null ? 0 : found.offset();
    }

    // -- clients

    /** Returns the result of a record. Throws KafkaException. */
    private static void result(Future<RecordMetadata> sent) throws Exception {
        try {
            sent.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof KafkaException error ? error : failure;
        }
    }

    private KafkaProducer<String, String> producer(Map<String, Object> more) {
        StringSerializer text = new StringSerializer();
        return new KafkaProducer<>(config(SHORT_SENDING, more), text, text);
    }

    private KafkaConsumer<String, String> consumer(Map<String, Object> more) {
        Map<String, Object> config = config(SHORT_READING, more);
        config.put("group.id", GROUP);
        config.put("enable.auto.commit", false);
        config.put("auto.offset.reset", "earliest");
        StringDeserializer text = new StringDeserializer();
        KafkaConsumer<String, String> consumer = new KafkaConsumer<>(config, text, text);
        consumer.subscribe(List.of(ORDERS));
        return consumer;
    }

    private Map<String, Object> config(Map<String, Object> timeouts, Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>();
        if (isShort) {
            config.putAll(SHORT_CONNECTION);
            config.putAll(timeouts);
        }
        config.putAll(more);
        config.put("bootstrap.servers", address);
        return config;
    }

    private static void close(KafkaProducer<String, String> producer, KafkaConsumer<String, String> consumer) {
        producer.close(Duration.ZERO);
        consumer.close(Duration.ofMillis(CLOSING_MS_MAX));
    }
}
