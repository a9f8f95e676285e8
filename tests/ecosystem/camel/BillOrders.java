import java.util.concurrent.TimeUnit;
import org.apache.camel.builder.NotifyBuilder;
import org.apache.camel.builder.RouteBuilder;
import org.apache.camel.impl.DefaultCamelContext;

/** A route from a topic to a topic. */
public class BillOrders {
    static final int ORDERS = 10;

    public static void main(String[] arguments) throws Exception {
        var brokers = "?brokers=" + arguments[0];
        try (var context = new DefaultCamelContext()) {
            context.addRoutes(new RouteBuilder() {
                @Override
                public void configure() {
                    from("kafka:orders" + brokers + "&groupId=billing&autoOffsetReset=earliest")
                            .setBody(simple("bill for ${body}"))
                            .to("kafka:bills" + brokers);
                }
            });
            var billed = new NotifyBuilder(context).whenCompleted(ORDERS).create();
            context.start();
            if (!billed.matches(200, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not all orders were billed");
            }
        }
    }
}
