package fauxka;

import java.util.List;
import java.util.Objects;

/**
 * What a consumer group got and committed. docs/faults.md explains the findings.
 *
 * @param notes what the verdict cannot tell
 * @param findingsLeftOut how many more findings there are
 * @param reportsLeftOut reports of the application that were too many to keep
 */
public record GroupVerdict(
    String group, List<Partition> partitions, List<Finding> findings, List<String> notes, int findingsLeftOut,
    int reportsLeftOut) {
    /**
     * A partition. processedFrom: "reports" of the application, or "commits". committed, lag: null if they are not known.
     */
    public record Partition(
        String topic, int partition, int delivered, int processed, String processedFrom, Long committed, Long lag) {}

    /** Offsets, first and last, that the group got twice, never or out of order, or a commit that leads to that. */
    public record Finding(
        String kind, String cause, String topic, int partition, List<Long> offsets, String why, String member, int count,
        List<String> keys, List<Long> requestIds) {
        @Override
        public String toString() {
            return "%s: %s-%d, offsets %s: %s".formatted(kind.replace('_', ' '), topic, partition, offsets, why);
        }
    }

    /** The sum of the lags of all partitions. */
    public long lag() {
        return partitions.stream().map(Partition::lag).filter(Objects::nonNull).mapToLong(Long::longValue).sum();
    }

    /** Asserts that no record was sent to the group twice. Fails too if nothing was sent. */
    public void assertDeliveredOnce() {
        assertDelivered("every record delivered once", List.of("delivered_twice", "hanging"));
    }

    /** Asserts that the group has passed over no record. Fails too if nothing was sent to it. */
    public void assertNothingSkipped() {
        assertDelivered("nothing skipped", List.of("never_delivered", "archived"));
    }

    /** Asserts that the application has reported every record once, up to where it or the group is. */
    public void assertProcessedOnce() {
        if (partitions.stream().noneMatch(each -> each.processedFrom.equals("reports"))) {
            throw new AssertionError("no application has reported what group " + group + " processed");
        }
        assertNone("every record processed once",
            List.of("processed_twice", "committed_unprocessed", "never_processed", "never_delivered"));
        if (reportsLeftOut > 0) {
            throw new AssertionError("group %s: %d reports were too many to keep".formatted(group, reportsLeftOut));
        }
    }

    /** Asserts that at most so many records are not committed yet. */
    public void assertLag(long most) {
        if (lag() > most) {
            throw new AssertionError("group %s: expected a lag of at most %d, found %d".formatted(group, most, lag()));
        }
    }

    private void assertDelivered(String wanted, List<String> kinds) {
        assertNone(wanted, kinds);
        if (partitions.stream().allMatch(each -> each.delivered == 0)) {
            throw new AssertionError("nothing was delivered to group " + group + ", so there is nothing to judge");
        }
    }

    private void assertNone(String wanted, List<String> kinds) {
        List<Finding> found = findings.stream().filter(each -> kinds.contains(each.kind)).toList();
        if (!found.isEmpty() || findingsLeftOut > 0) {
            throw Verdict.failure("group %s: expected %s, found".formatted(group, wanted), found, notes);
        }
    }
}
