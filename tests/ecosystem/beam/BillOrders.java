import java.util.Map;
import org.apache.beam.sdk.Pipeline;
import org.apache.beam.sdk.io.kafka.KafkaIO;
import org.apache.beam.sdk.options.PipelineOptionsFactory;
import org.apache.beam.sdk.transforms.MapElements;
import org.apache.beam.sdk.values.TypeDescriptors;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Bills the first orders of a topic with the DirectRunner. */
public class BillOrders {
    static final int ORDERS = 10;

    public static void main(String[] arguments) {
        var pipeline = Pipeline.create(PipelineOptionsFactory.create());
        pipeline.apply(KafkaIO.<String, String>read()
                        .withBootstrapServers(arguments[0])
                        .withTopic("orders")
                        .withKeyDeserializer(StringDeserializer.class)
                        .withValueDeserializer(StringDeserializer.class)
                        .withConsumerConfigUpdates(Map.of("group.id", "billing", "auto.offset.reset", "earliest"))
                        .commitOffsetsInFinalize()
                        .withMaxNumRecords(ORDERS)
                        .withoutMetadata())
                .apply(MapElements.into(TypeDescriptors.strings()).via(order -> "bill for " + order.getValue()))
                .apply(KafkaIO.<Void, String>write()
                        .withBootstrapServers(arguments[0])
                        .withTopic("bills")
                        .withValueSerializer(StringSerializer.class)
                        .values());
        pipeline.run().waitUntilFinish();
    }
}
