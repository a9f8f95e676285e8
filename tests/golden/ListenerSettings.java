import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;
import kafka.tools.StorageTool;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.common.utils.Time;
import scala.collection.Iterator;

/**
 * Starts a broker with each of several configurations, one after the other. One JSON object of properties a line comes in, one goes out:
 * {"refused": message}, or for each listener its advertised address, the loopback addresses that accept connections, and whether a client
 * without a certificate gets a response.
 *
 * <p>Run by: java -cp "jars/*" ListenerSettings.java FOLDER
 */
public final class ListenerSettings {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String[] LOOPBACK = {"127.0.0.1", "127.0.0.2", "::1"};
    private static final int ANSWER_MS_MAX = 10_000;
    /** ApiVersions version 0, correlation id 7, client id null, behind the four bytes of its size. */
    private static final byte[] API_VERSIONS = {0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, -1, -1};

    public static void main(String[] arguments) throws Exception {
        // The broker ends the process when its start-up fails.
        Exit.setExitProcedure((status, message) -> { throw new IllegalStateException("exit"); });
        Exit.setHaltProcedure((status, message) -> { throw new IllegalStateException("halt"); });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        System.setOut(System.err);
        int number = 0;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(outcome(JSON.readTree(line), Path.of(arguments[0], "node-" + ++number))));
        }
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static ObjectNode outcome(JsonNode entries, Path folder) throws Exception {
        Properties properties = new Properties();
        entries.fields().forEachRemaining(entry -> properties.setProperty(entry.getKey(), entry.getValue().asText()));
        properties.setProperty("log.dirs", folder.toString());
        KafkaRaftServer server;
        KafkaConfig config;
        try {
            config = KafkaConfig.fromProps(properties, false);
            format(properties, folder);
            server = new KafkaRaftServer(config, Time.SYSTEM);
        } catch (RuntimeException error) {
            return refused(error);
        }
        try {
            server.startup();
            return started(config);
        } catch (RuntimeException error) {
            return refused(error);
        } finally {
            server.shutdown();
        }
    }

    private static void format(Properties properties, Path folder) throws IOException {
        Path file = Path.of(folder + ".properties");
        try (OutputStream output = Files.newOutputStream(file)) {
            properties.store(output, null);
        }
        StorageTool.execute(new String[] {"format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", file.toString()}, System.err);
    }

    private static ObjectNode refused(RuntimeException error) {
        return JSON.createObjectNode().put("refused", error.getMessage());
    }

    private static ObjectNode started(KafkaConfig config) {
        ObjectNode listeners = JSON.createObjectNode();
        for (Iterator<Endpoint> each = config.effectiveAdvertisedBrokerListeners().iterator(); each.hasNext();) {
            Endpoint endpoint = each.next();
            listeners.putObject(endpoint.listener()).put("advertised", endpoint.host()).put("advertised port", String.valueOf(endpoint.port()));
        }
        for (Iterator<Endpoint> each = config.dataPlaneListeners().iterator(); each.hasNext();) {
            Endpoint endpoint = each.next();
            ObjectNode listener = listeners.withObject("/" + endpoint.listener());
            ArrayNode addresses = listener.putArray("accepts");
            for (String address : LOOPBACK) {
                if (accepts(address, endpoint.port())) {
                    addresses.add(address);
                }
            }
            SecurityProtocol protocol = endpoint.securityProtocol();
            if (protocol == SecurityProtocol.SSL || protocol == SecurityProtocol.SASL_SSL) {
                listener.put("without certificate", isAnswered(addresses.get(0).asText(), endpoint.port()) ? "answered" : "refused");
            }
        }
        ObjectNode node = JSON.createObjectNode();
        node.set("listeners", listeners);
        return node;
    }

    private static boolean accepts(String address, int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(address, port), ANSWER_MS_MAX);
            return true;
        } catch (IOException error) {
            return false;
        }
    }

    private static boolean isAnswered(String address, int port) {
        try (Socket socket = trusting().getSocketFactory().createSocket(address, port)) {
            socket.setSoTimeout(ANSWER_MS_MAX);
            socket.getOutputStream().write(API_VERSIONS);
            new DataInputStream(socket.getInputStream()).readInt();
            return true;
        } catch (IOException error) {
            return false;
        }
    }

    private static SSLContext trusting() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, new TrustManager[] {new TrustEverything()}, new SecureRandom());
            return context;
        } catch (java.security.GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private static final class TrustEverything implements X509TrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
