package fauxka;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A fault rule: which requests, how often, where, and what happens to them.
 *
 * <p>A recipe of docs/faults.md makes one, and its methods change it: {@code lostAck().topic("orders").times(2)}. A
 * rule hits once, unless times or always say otherwise.
 */
public final class FaultRule extends Selection<FaultRule> {
    private final Map<String, Object> action = new LinkedHashMap<>();
    private final Map<String, Object> when = new LinkedHashMap<>();
    private final Map<String, Object> rule =
        new LinkedHashMap<>(Map.of("match", match, "action", action, "when", when));

    private FaultRule() {}

    /** Where a rule acts: on a new connection, or on a request before it is applied, after it, or on the response. */
    public enum Point { ACCEPTED, RECEIVED, APPLIED, ANSWERING }

    /** Any rule. kind: of an action in docs/faults.md; {@link #with} sets its fields. */
    public static FaultRule of(Point point, String kind) {
        return new FaultRule().at(point).with("kind", kind);
    }

    /** Applies a Produce, and closes the connection instead of responding, so that the client sends it again. */
    public static FaultRule lostAck() { return ofProduce("lost ack", Point.APPLIED, "close"); }

    /** Drops a Produce: it is neither applied nor answered. */
    public static FaultRule lostRequest() { return ofProduce("lost request", Point.RECEIVED, "drop"); }

    /** Applies a Produce, and sends neither its response nor any later one; the connection stays open. */
    public static FaultRule hang() { return ofProduce("hang", Point.APPLIED, "hang"); }

    /** Holds a Produce until {@link RemoteBroker.Held#release}. */
    public static FaultRule held() { return ofProduce("held", Point.RECEIVED, "hold"); }

    /** Applies a Produce twice; the client gets one response. */
    public static FaultRule deliveredTwice() { return ofProduce("delivered twice", Point.RECEIVED, "deliver_twice"); }

    /** Responds to a Produce with success, and does not apply it. */
    public static FaultRule falseSuccess() {
        return ofProduce("false success", Point.RECEIVED, "error").with("error", "NONE");
    }

    /** Applies a Produce, and responds with an error of Kafka, by its name. */
    public static FaultRule falseError(String error) {
        return ofProduce("false " + error, Point.APPLIED, "error").with("error", error);
    }

    /** Responds with an error of Kafka, by its name, and does not apply the request. */
    public static FaultRule refuse(String error) {
        return of(Point.RECEIVED, "error").with("error", error).named("refuse " + error);
    }

    /** Crashes the node after a Produce is applied and before its response, and starts it again at once. */
    public static FaultRule crashAfterAppend() {
        return ofProduce("crash after append", Point.APPLIED, "crash").with("restart_after_ms", 0);
    }

    /** Crashes the node before a Produce is applied, and starts it again at once. */
    public static FaultRule crashBeforeAppend() {
        return crashAfterAppend().at(Point.RECEIVED).named("crash before append");
    }

    /** Closes the connection instead of handling the request. */
    public static FaultRule closedConnection() { return of(Point.RECEIVED, "close").named("closed connection"); }

    /** Resets the connection instead of handling the request. */
    public static FaultRule resetConnection() { return of(Point.RECEIVED, "reset").named("reset connection"); }

    /** Applies the request and responds later. */
    public static FaultRule slowAnswers(Duration time) {
        return of(Point.APPLIED, "delay").with("ms", time.toMillis()).named("slow answers");
    }

    /** Applies the request later. */
    public static FaultRule slowRequests(Duration time) {
        return slowAnswers(time).at(Point.RECEIVED).named("slow requests");
    }

    /** Counts all requests, so that a test can wait for them. */
    public static FaultRule observed() { return of(Point.RECEIVED, "observe").always().named("observed"); }

    private static FaultRule ofProduce(String name, Point point, String kind) {
        return of(point, kind).api("Produce").named(name);
    }

    /** Sets a field of the action. */
    public FaultRule with(String field, Object value) { return put(action, field, value); }

    public FaultRule at(Point point) { return put(rule, "point", point); }

    /** Sets the name, which lists and errors show. */
    public FaultRule named(String name) { return put(rule, "name", name); }

    /** Sets the number of hits, after which the rule does nothing. */
    public FaultRule times(int hits) { return when("times", hits); }

    /** Sets no limit of hits. */
    public FaultRule always() { return when("times", null); }

    /** Sets the number of matches to skip first. */
    public FaultRule skip(int matches) { return when("skip", matches); }

    /** Sets any field of `when` of the admin API. */
    public FaultRule when(String field, Object value) { return put(when, field, value); }

    Map<String, Object> json() { return rule; }

    private FaultRule put(Map<String, Object> fields, String field, Object value) {
        fields.put(field, value);
        return this;
    }
}
