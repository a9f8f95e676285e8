import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.kafka.client.consumer.KafkaConsumer;
import io.vertx.kafka.client.consumer.KafkaConsumerRecord;
import io.vertx.kafka.client.producer.KafkaProducer;
import io.vertx.kafka.client.producer.KafkaProducerRecord;
import java.util.Map;

/** Bills each order and commits its offset after the bill, on an event loop. */
public class BillOrders {
    static final int ORDERS = 10;

    public static void main(String[] arguments) {
        var vertx = Vertx.vertx();
        var strings = "org.apache.kafka.common.serialization.String";
        KafkaProducer<String, String> producer = KafkaProducer.create(vertx, Map.of(
                "bootstrap.servers", arguments[0],
                "key.serializer", strings + "Serializer", "value.serializer", strings + "Serializer"));
        KafkaConsumer<String, String> consumer = KafkaConsumer.create(vertx, Map.of(
                "bootstrap.servers", arguments[0], "group.id", "billing",
                "auto.offset.reset", "earliest", "enable.auto.commit", "false",
                "key.deserializer", strings + "Deserializer", "value.deserializer", strings + "Deserializer"));
        // The bills of all orders so far: each is written after the one before.
        Future<?>[] billed = {Future.succeededFuture()};
        consumer.handler(order -> billed[0] = billed[0].compose(before -> bill(producer, order)).compose(bill -> {
            if (order.offset() < ORDERS - 1) {
                return Future.succeededFuture();
            }
            return consumer.commit().compose(done -> consumer.close()).compose(done -> producer.close())
                    .compose(done -> vertx.close());
        }).onFailure(error -> {
            error.printStackTrace();
            System.exit(1);
        }));
        consumer.subscribe("orders");
    }

    private static Future<?> bill(KafkaProducer<String, String> producer, KafkaConsumerRecord<String, String> order) {
        return producer.send(KafkaProducerRecord.create("bills", order.key(), "bill for " + order.value()));
    }
}
