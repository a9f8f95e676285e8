package fauxka;

import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What an application makes of one topic in another. docs/faults.md explains the findings.
 *
 * @param group the one whose deliveries and commits give the reasons, or null
 * @param unjudged kinds of findings that cannot be told, for the reasons in notes
 */
public record FlowVerdict(
    String fromTopic, String toTopic, String group, Events events, List<Finding> findings, List<String> unjudged,
    List<String> notes) {
    private static final int EVENTS_SHOWN = 3;

    /** Numbers of events. */
    public record Events(int input, int output, int once, int lost, int doubled, int outOfOrder, int unexpected) {}

    /** A record of one of the two topics. */
    public record Place(int partition, long offset) {}

    /** An event with the places of its committed records in both topics. */
    public record Event(String event, List<Place> input, List<Place> output) {}

    /**
     * Events to which the same happened for the same reason. kind: lost, doubled, out_of_order or unexpected. events: the
     * first of them. count: the number of all.
     */
    public record Finding(
        String kind, String cause, String why, int count, List<Event> events, List<Long> requestIds) {
        @Override
        public String toString() {
            String named = events.stream().limit(EVENTS_SHOWN).map(Event::event).collect(Collectors.joining(", "));
            return "%s: %d events, such as %s: %s".formatted(kind.replace('_', ' '), count, named, why);
        }
    }

    /**
     * Asserts that the output has every event of the input, none more often than the input, and no others. Fails too if
     * the input has no events, or if it cannot be told.
     */
    public void assertExactlyOnce() {
        assertNone("exactly once", List.of("lost", "doubled", "unexpected"));
    }

    /** Asserts that every event of the input is in the output. */
    public void assertNothingLost() {
        assertNone("nothing lost", List.of("lost"));
    }

    /** Asserts that no event is in the output more often than in the input. */
    public void assertNoDuplicates() {
        assertNone("no duplicates", List.of("doubled"));
    }

    /** Asserts that each output partition has the events of an input partition in their order. */
    public void assertInOrder() {
        assertNone("the order of the input", List.of("out_of_order"));
    }

    private void assertNone(String wanted, List<String> kinds) {
        String flow = fromTopic + " to " + toTopic;
        List<Finding> found = findings.stream().filter(each -> kinds.contains(each.kind)).toList();
        if (!found.isEmpty()) {
            throw Verdict.failure("%s: expected %s, found".formatted(flow, wanted), found, notes);
        }
        if (events.input == 0) {
            throw Verdict.failure(fromTopic + " has no events, so there is nothing to judge", List.of(), notes);
        }
        if (!Collections.disjoint(unjudged, kinds)) {
            throw Verdict.failure("%s: cannot tell whether it is %s".formatted(flow, wanted), List.of(), notes);
        }
    }
}
