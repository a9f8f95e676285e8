package fauxka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** A proxy in front of the broker, which responds by itself. */
class CallExceptionTest {
    @Test
    void responseThatIsNoJsonIsTheMessage() throws Exception {
        var authorization = new AtomicReference<String>();
        HttpServer proxy = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        proxy.createContext("/v1/reset", exchange -> {
            authorization.set(exchange.getRequestHeaders().getFirst("Authorization"));
            byte[] body = "<h1>Bad Gateway</h1>".getBytes();
            exchange.sendResponseHeaders(502, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        proxy.start();
        try {
            String address = "http://127.0.0.1:" + proxy.getAddress().getPort() + "/";
            var broker = new RemoteBroker(address, "secret", HttpClient.newHttpClient());

            var refused = assertThrows(CallException.class, broker::reset);

            assertEquals(502, refused.status());
            assertNull(refused.field());
            assertEquals("502: <h1>Bad Gateway</h1>", refused.getMessage());
            assertEquals("Bearer secret", authorization.get());
        } finally {
            proxy.stop(0);
        }
    }
}
