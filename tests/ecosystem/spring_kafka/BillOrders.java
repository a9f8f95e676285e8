import java.util.Map;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.kafka.annotation.EnableKafka;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.kafka.config.ConcurrentKafkaListenerContainerFactory;
import org.springframework.kafka.core.DefaultKafkaConsumerFactory;
import org.springframework.kafka.core.DefaultKafkaProducerFactory;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.transaction.KafkaTransactionManager;

/**
 * A listener in a container with transactions, until it is stopped. It fails once, after its write: the transaction is aborted
 * and the order read again. Argument: address.
 */
@Configuration
@EnableKafka
public class BillOrders {
    static final String FAILING = "order 3";
    static String bootstrap;

    private boolean failed;

    @Bean
    DefaultKafkaProducerFactory<String, String> producers() {
        var factory = new DefaultKafkaProducerFactory<String, String>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer());
        factory.setTransactionIdPrefix("billing-");
        return factory;
    }

    @Bean
    KafkaTemplate<String, String> bills() {
        return new KafkaTemplate<>(producers());
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
        var settings = Map.<String, Object>of(
                "bootstrap.servers", bootstrap, "group.id", "billing", "auto.offset.reset", "earliest",
                "isolation.level", "read_committed");
        var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
        factory.setConsumerFactory(
                new DefaultKafkaConsumerFactory<>(settings, new StringDeserializer(), new StringDeserializer()));
        factory.getContainerProperties().setKafkaAwareTransactionManager(new KafkaTransactionManager<>(producers()));
        return factory;
    }

    @KafkaListener(topics = "orders")
    void bill(String order) {
        // Acknowledged before the failure: an abort drops what is not sent yet.
        bills().send("bills", "bill for " + order).join();
        if (order.equals(FAILING) && !failed) {
            failed = true;
            throw new IllegalStateException("fails once");
        }
    }

    public static void main(String[] arguments) {
        bootstrap = arguments[0];
        new AnnotationConfigApplicationContext(BillOrders.class).registerShutdownHook();
    }
}
