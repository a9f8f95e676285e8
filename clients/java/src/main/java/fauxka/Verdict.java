package fauxka;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What became of the batches of a topic. docs/admin-api.md explains the counts and the findings.
 *
 * @param findingsLeftOut how many more findings there are
 * @param forgotten unacknowledged batches that were too many to keep, whose copies are not found
 */
public record Verdict(
    String topic, Batches batches, Records records, List<Finding> findings, int findingsLeftOut, int forgotten) {
    private static final List<String> NOT_EXACTLY_ONCE = List.of(
        "acknowledged_lost", "appended_twice", "hanging_transaction");
    /** The first findings show the cause. */
    private static final int FINDINGS_SHOWN = 5;

    public record Batches(
        int appendedOnce, int appendedTwice, int refused, int duplicatesRecognised, int acknowledgedLost,
        int storedUnacknowledged, int reordered) {}

    public record Records(int inLog, int distinct, int duplicates, int deleted) {}

    /**
     * Batches that are not stored exactly once. why: the reason as a sentence. requests: the ids of their requests in the
     * journal. leaderEpoch: of lost batches, null without an election. events: the
     * event ids of lost records, their keys by default. Missing numbers are -1.
     */
    public record Finding(
        String kind, int partition, List<Long> offsets, long producerId, int baseSequence, int batches, int records,
        Integer leaderEpoch, List<String> events, List<Long> requests, String why) {
        private String line() {
            return "\n    %s: partition %d, offsets %s, producer %d, sequences from %d: %s"
                .formatted(kind.replace('_', ' '), partition, offsets, producerId, baseSequence, why);
        }
    }

    /**
     * Asserts that every acknowledged batch is in the log, that no record is in it twice, and that no transaction hangs.
     * Fails too if nothing was produced (test data is not), and if copies would not have been found.
     */
    public void assertExactlyOnce() {
        long hanging = findings.stream().filter(each -> each.kind.equals("hanging_transaction")).count();
        if (batches.acknowledgedLost > 0 || records.duplicates > 0 || hanging > 0) {
            throw new AssertionError(
                ("%s: expected exactly once, found acknowledged batches lost: %d, records in the log twice: %d, "
                    + "hanging transactions: %d%s")
                    .formatted(topic, batches.acknowledgedLost, records.duplicates, hanging, shownFindings()));
        }
        if (batches.equals(new Batches(0, 0, 0, 0, 0, 0, 0))) {
            throw new AssertionError(topic + ": nothing was produced, so there is nothing to judge");
        }
        if (forgotten > 0) {
            throw new AssertionError(topic + ": copies of " + forgotten + " batches, too many to keep, are not found");
        }
    }

    /** The failure of an assertion, with the first findings. */
    static AssertionError failure(String head, List<?> findings, List<String> notes) {
        Stream<String> shown = findings.stream().limit(FINDINGS_SHOWN).map(Object::toString);
        String lines = Stream.concat(shown, notes.stream()).map(each -> "\n    " + each).collect(Collectors.joining());
        return new AssertionError(head + lines);
    }

    private String shownFindings() {
        return findings.stream()
            .filter(each -> NOT_EXACTLY_ONCE.contains(each.kind))
            .limit(FINDINGS_SHOWN)
            .map(Finding::line)
            .collect(Collectors.joining());
    }
}
