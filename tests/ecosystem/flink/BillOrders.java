import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringSchema;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Bills orders on a MiniCluster until it is stopped; the sink commits a transaction with each checkpoint. Arguments: address,
 * milliseconds between checkpoints.
 */
public class BillOrders {
    public static void main(String[] arguments) throws Exception {
        var bootstrap = arguments[0];
        var environment = StreamExecutionEnvironment.createLocalEnvironment(1);
        environment.enableCheckpointing(Long.parseLong(arguments[1]));
        var orders = KafkaSource.<String>builder()
                .setBootstrapServers(bootstrap)
                .setTopics("orders")
                .setGroupId("billing")
                .setStartingOffsets(OffsetsInitializer.earliest())
                .setValueOnlyDeserializer(new SimpleStringSchema())
                .build();
        var bills = KafkaSink.<String>builder()
                .setBootstrapServers(bootstrap)
                .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
                .setTransactionalIdPrefix("billing")
                .setProperty("transaction.timeout.ms", "600000")
                .setRecordSerializer(KafkaRecordSerializationSchema.builder()
                        .setTopic("bills")
                        .setValueSerializationSchema(new SimpleStringSchema())
                        .build())
                .build();
        environment.fromSource(orders, WatermarkStrategy.noWatermarks(), "orders")
                .map(order -> "bill for " + order)
                .sinkTo(bills);
        var job = environment.executeAsync();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> job.cancel().join()));
        job.getJobExecutionResult().get();
    }
}
