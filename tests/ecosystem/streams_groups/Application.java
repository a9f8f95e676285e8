import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.HostInfo;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.ReadOnlyKeyValueStore;

/**
 * An instance of an application of the group protocol "streams", until it is stopped.
 *
 * Arguments: the address, the name of the topology, and settings as key=value. The first line of the output is
 * "port PORT" of an HTTP server: /state, /tasks, /lag, /restored (how many records), /value/KEY of the table "counts".
 */
public class Application {
    private static final AtomicLong RESTORED = new AtomicLong();

    public static void main(String[] arguments) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        var own = new HostInfo("127.0.0.1", server.getAddress().getPort());

        var settings = new Properties();
        settings.put("group.protocol", "streams");
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("application.server", own.host() + ":" + own.port());
        settings.put("auto.offset.reset", "earliest");
        settings.put("statestore.cache.max.bytes", 0);
        settings.put("commit.interval.ms", 100);
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        for (var index = 2; index < arguments.length; index++) {
            var setting = arguments[index].split("=", 2);
            settings.put(setting[0], setting[1]);
        }

        var builder = new StreamsBuilder();
        build(arguments[1], builder);
        var streams = new KafkaStreams(builder.build(settings), settings);
        streams.setGlobalStateRestoreListener(new CountRestored());
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            // Without the shutdown hook, which would wait for this thread.
            Runtime.getRuntime().halt(1);
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> streams.close(Duration.ofSeconds(20))));
        serve(server, streams, own);
        System.out.println("port " + own.port());
        streams.start();
    }

    private static void build(String topology, StreamsBuilder builder) {
        switch (topology) {
            case "counts" -> builder.<String, String>stream("orders")
                    .groupByKey()
                    .count(Materialized.as("counts"))
                    .toStream()
                    .mapValues(String::valueOf)
                    .to("counted");
            case "regrouped" -> builder.<String, String>stream("orders")
                    .selectKey((customer, order) -> "customer " + customer)
                    .groupByKey()
                    .count(Materialized.as("counts"))
                    .toStream()
                    .mapValues(String::valueOf)
                    .to("counted");
            case "windows" -> builder.<String, String>stream("orders")
                    // Without these serdes the windows have none for their keys.
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .windowedBy(TimeWindows.ofSizeWithNoGrace(Duration.ofSeconds(10)))
                    .count()
                    .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded()))
                    .toStream((window, count) -> window.key() + " at " + window.window().start())
                    .mapValues(String::valueOf)
                    .to("counted");
            case "table" -> builder.<String, String>stream("orders")
                    .join(builder.<String, String>table("customers"), (order, customer) -> order + " of " + customer)
                    .to("joined");
            case "foreign key" -> builder.<String, String>table("orders")
                    .join(
                            builder.<String, String>table("customers"),
                            order -> order.split(" ")[0],
                            (order, customer) -> order + " of " + customer)
                    .toStream()
                    .to("joined");
            default -> throw new IllegalArgumentException("no topology " + topology);
        }
    }

    private static void serve(HttpServer server, KafkaStreams streams, HostInfo own) {
        server.createContext("/", exchange -> {
            String answer;
            try {
                answer = answer(exchange.getRequestURI().getPath().split("/", 3), streams, own);
            } catch (RuntimeException error) {
                answer = "error " + error;
            }
            var body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    private static String answer(String[] path, KafkaStreams streams, HostInfo own) {
        return switch (path[1]) {
            case "state" -> streams.state().name();
            case "tasks" -> tasks(streams);
            case "lag" -> String.valueOf(lag(streams));
            case "restored" -> String.valueOf(RESTORED.get());
            case "value" -> value(path[2], streams, own);
            default -> "error no " + path[1];
        };
    }

    /** Returns the active and the standby tasks, each sorted, as "0_0 0_1, 0_2". */
    private static String tasks(KafkaStreams streams) {
        var active = new TreeSet<String>();
        var standby = new TreeSet<String>();
        for (var thread : streams.metadataForLocalThreads()) {
            thread.activeTasks().forEach(task -> active.add(task.taskId().toString()));
            thread.standbyTasks().forEach(task -> standby.add(task.taskId().toString()));
        }
        return String.join(" ", active) + "," + String.join(" ", standby);
    }

    /** Returns how many records of changelogs the standby tasks have still to read. */
    private static long lag(KafkaStreams streams) {
        return streams.allLocalStorePartitionLags().values().stream()
                .flatMap(partitions -> partitions.values().stream())
                .mapToLong(lag -> lag.offsetLag())
                .sum();
    }

    /** Returns "value VALUE", or "at HOST:PORT" if another instance has the key. */
    private static String value(String key, KafkaStreams streams, HostInfo own) {
        var metadata = streams.queryMetadataForKey("counts", key, Serdes.String().serializer());
        if (metadata.activeHost().port() < 0) {
            return "error nowhere";
        }
        if (!metadata.activeHost().equals(own)) {
            return "at " + metadata.activeHost().host() + ":" + metadata.activeHost().port();
        }
        ReadOnlyKeyValueStore<String, Long> counts =
                streams.store(StoreQueryParameters.fromNameAndType("counts", QueryableStoreTypes.keyValueStore()));
        return "value " + counts.get(key);
    }

    /** Counts the records of changelogs that active tasks have read. */
    private static class CountRestored implements StateRestoreListener {
        @Override
        public void onRestoreStart(TopicPartition changelog, String store, long start, long end) {}

        @Override
        public void onBatchRestored(TopicPartition changelog, String store, long end, long count) {
            RESTORED.addAndGet(count);
        }

        @Override
        public void onRestoreEnd(TopicPartition changelog, String store, long total) {}
    }
}
