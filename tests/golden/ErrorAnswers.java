import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestAndSize;
import org.apache.kafka.common.requests.ResponseHeader;

/**
 * What Kafka's own classes answer to requests that fail as a whole. One JSON object a line comes in, {"api_key", "version", "request": body
 * in base64, "codes": [...]}; one goes out: for each code the whole answer in base64, null where none is owed, {"exception"} where Kafka
 * fails. The line {"messages": true} is answered with the text of every error.
 *
 * <p>Run by: java -cp "jars/*" ErrorAnswers.java
 */
public final class ErrorAnswers {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CORRELATION_ID = 7;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = JSON.readTree(line);
            System.out.println(JSON.writeValueAsString(question.has("messages") ? messages() : answers(question)));
        }
    }

    private static ObjectNode messages() {
        ObjectNode messages = JSON.createObjectNode();
        for (Errors error : Errors.values()) {
            messages.put(Short.toString(error.code()), error.exception() == null ? null : error.message());
        }
        return messages;
    }

    private static ObjectNode answers(JsonNode question) {
        ApiKeys api = ApiKeys.forId(question.get("api_key").asInt());
        short version = (short) question.get("version").asInt();
        byte[] body = Base64.getDecoder().decode(question.get("request").asText());
        ObjectNode answers = JSON.createObjectNode();
        for (JsonNode code : question.get("codes")) {
            try {
                AbstractRequest request = parse(api, version, ByteBuffer.wrap(body));
                AbstractResponse response = request.getErrorResponse(0, Errors.forCode((short) code.asInt()).exception());
                answers.put(code.asText(), response == null ? null : Base64.getEncoder().encodeToString(frame(api, version, response)));
            } catch (RuntimeException e) {
                answers.set(code.asText(), JSON.createObjectNode().put("exception", e.toString()));
            }
        }
        return answers;
    }

    /** Reads a request. Kafka 3.9 reads it from a ByteBuffer, later releases from a ByteBufferAccessor. */
    private static AbstractRequest parse(ApiKeys api, short version, ByteBuffer body) {
        for (Method method : AbstractRequest.class.getMethods()) {
            if (method.getName().equals("parseRequest")) {
                Object source = method.getParameterTypes()[2] == ByteBuffer.class ? body : new ByteBufferAccessor(body);
                try {
                    return ((RequestAndSize) method.invoke(null, api, version, source)).request;
                } catch (InvocationTargetException e) {
                    throw (RuntimeException) e.getCause();
                } catch (IllegalAccessException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
        throw new IllegalStateException("AbstractRequest has no parseRequest");
    }

    private static ByteBuffer bytesOf(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer bytes = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(bytes), cache, version);
        return bytes.flip();
    }

    private static byte[] frame(ApiKeys api, short version, AbstractResponse response) {
        ResponseHeader header = new ResponseHeader(CORRELATION_ID, api.responseHeaderVersion(version));
        ByteBuffer head = bytesOf(header.data(), header.headerVersion());
        ByteBuffer body = bytesOf(response.data(), version);
        int size = head.remaining() + body.remaining();
        return ByteBuffer.allocate(4 + size).putInt(size).put(head).put(body).array();
    }
}
