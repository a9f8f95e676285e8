package fauxka;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;

/** A call that the broker refused. */
public class CallException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private static final int TIMED_OUT = 408;

    private final int status;
    private final String field;

    private CallException(int status, String field, String message) {
        super(message);
        this.status = status;
        this.field = field;
    }

    /** A wait for hits that ended at its timeout. The message has the near misses: why other requests did not match. */
    public static final class WaitTimeout extends CallException {
        private static final long serialVersionUID = 1;

        private final int hits;

        private WaitTimeout(int hits, String message) {
            super(TIMED_OUT, null, message);
            this.hits = hits;
        }

        /** The hits until the timeout. */
        public int hits() { return hits; }
    }

    static CallException of(int status, String body) throws JsonProcessingException {
        // A proxy in between may respond with HTML.
        JsonNode json = body.startsWith("{") ? AdminClient.JSON.readTree(body) : AdminClient.JSON.missingNode();
        String message = json.at("/error/message").asText(status + ": " + body);
        return status == TIMED_OUT && json.has("hits")
            ? new WaitTimeout(json.get("hits").asInt(), message)
            : new CallException(status, json.at("/error/field").asText(null), message);
    }

    /** The HTTP status: 400 for an invalid value, 404 for an unknown name, 409 for a state that does not allow it. */
    public int status() { return status; }

    /** The path of the invalid field, such as "match.partition"; null if the error is about none. */
    public String field() { return field; }
}
