package fauxka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The texts of failures that are hard to cause with a broker. */
class VerdictTest {
    private static final Verdict.Finding TWICE =
        new Verdict.Finding(
            "appended_twice", 0, List.of(1L, 5L), 7, 2, 1, 1, null, List.of(), List.of(), "it was sent again");

    @Test
    void firstFindingsAreNamed() {
        var verdict = verdict(new Verdict.Records(18, 9, 9, 0), Collections.nCopies(9, TWICE), 0);

        var failure = assertThrows(AssertionError.class, verdict::assertExactlyOnce);

        String found = "orders: expected exactly once, found acknowledged batches lost: 0, records in the log twice: 9, "
            + "hanging transactions: 0";
        String twice = "appended twice: partition 0, offsets [1, 5], producer 7, sequences from 2: it was sent again";
        String[] lines = failure.getMessage().split("\n    ");
        assertEquals(found, lines[0]);
        assertEquals(twice, lines[5]);
        assertEquals(6, lines.length);
    }

    @Test
    void copiesThatCouldNotBeFoundFail() {
        var verdict = verdict(new Verdict.Records(10, 10, 0, 0), List.of(), 3);

        var failure = assertThrows(AssertionError.class, verdict::assertExactlyOnce);

        assertEquals("orders: copies of 3 batches, too many to keep, are not found", failure.getMessage());
    }

    private static Verdict verdict(Verdict.Records records, List<Verdict.Finding> findings, int forgotten) {
        var batches = new Verdict.Batches(10, 0, 0, 0, 0, 0, 0);
        return new Verdict("orders", batches, records, findings, 0, forgotten);
    }
}
