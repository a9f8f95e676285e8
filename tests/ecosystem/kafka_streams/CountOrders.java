import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Counts the orders of each customer, exactly once, until it is stopped.
 *
 * Arguments: address, folder of the state, group protocol.
 */
public class CountOrders {
    public static void main(String[] arguments) {
        var settings = new Properties();
        settings.put("application.id", "counters");
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("state.dir", arguments[1]);
        settings.put("group.protocol", arguments[2]);
        settings.put("processing.guarantee", "exactly_once_v2");
        settings.put("auto.offset.reset", "earliest");
        settings.put("statestore.cache.max.bytes", 0);

        var builder = new StreamsBuilder();
        var strings = Serdes.String();
        builder.stream("orders", Consumed.with(strings, strings))
                // A new key, so that the counts need a topic for the new partitions.
                .selectKey((customer, order) -> "customer " + customer)
                .groupByKey()
                .count(Materialized.as("counts"))
                .toStream()
                .mapValues(String::valueOf)
                .to("counts", Produced.with(strings, strings));

        var streams = new KafkaStreams(builder.build(withDefaultSerdes(settings)), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }

    private static Properties withDefaultSerdes(Properties settings) {
        settings.put("default.key.serde", Serdes.StringSerde.class.getName());
        settings.put("default.value.serde", Serdes.StringSerde.class.getName());
        return settings;
    }
}
