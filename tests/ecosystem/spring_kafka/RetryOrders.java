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
import org.springframework.kafka.listener.DeadLetterPublishingRecoverer;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.util.backoff.FixedBackOff;

/**
 * A listener with an error handler, until it is stopped: one order fails twice and is billed then, another one always fails and
 * goes to the dead letter topic. Argument: address.
 */
@Configuration
@EnableKafka
public class RetryOrders {
    static final String FAILING_TWICE = "order 3";
    static final String FAILING = "order 5";
    static final int RETRIES = 2;
    static String bootstrap;

    private int failures;

    @Bean
    DefaultKafkaProducerFactory<String, String> producers() {
        return new DefaultKafkaProducerFactory<>(
                Map.of("bootstrap.servers", bootstrap), new StringSerializer(), new StringSerializer());
    }

    @Bean
    KafkaTemplate<String, String> bills() {
        return new KafkaTemplate<>(producers());
    }

    @Bean
    ConcurrentKafkaListenerContainerFactory<String, String> kafkaListenerContainerFactory() {
        var settings = Map.<String, Object>of(
                "bootstrap.servers", bootstrap, "group.id", "billing", "auto.offset.reset", "earliest");
        var factory = new ConcurrentKafkaListenerContainerFactory<String, String>();
        factory.setConsumerFactory(
                new DefaultKafkaConsumerFactory<>(settings, new StringDeserializer(), new StringDeserializer()));
        factory.setCommonErrorHandler(new DefaultErrorHandler(
                new DeadLetterPublishingRecoverer(bills()), new FixedBackOff(0, RETRIES)));
        return factory;
    }

    @KafkaListener(topics = "orders")
    void bill(String order) {
        if (order.equals(FAILING) || (order.equals(FAILING_TWICE) && failures++ < RETRIES)) {
            throw new IllegalStateException("fails");
        }
        bills().send("bills", "bill for " + order).join();
    }

    public static void main(String[] arguments) {
        bootstrap = arguments[0];
        new AnnotationConfigApplicationContext(RetryOrders.class).registerShutdownHook();
    }
}
