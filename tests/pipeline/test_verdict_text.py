"""The verdict of an audit as text for a terminal."""

from dataclasses import replace

from fauxka.pipeline.checks.finding_kinds import FINDING_KINDS
from fauxka.pipeline.report.summary import (
    AuditedOffsets,
    ComparedTopic,
    Comparison,
    EventTotals,
    Example,
    FindingGroup,
    Summary,
    TopicTotals,
)
from fauxka.pipeline.report.verdict_text import example_text, verdict_text

TOTALS = TopicTotals(topic="orders", partitions=1, batches=3, records=1200, bytes=9_000, producers=2)


def example(offset: int, detail: str) -> Example:
    return Example("orders", 0, offset, 3, 7, 0, 0, "k1", 1, "2026-01-01T00:00:00.000Z", detail)


def group(
    kind: str, cause: str | None, findings: int, examples: tuple[Example, ...], *, is_fault: bool
) -> FindingGroup:
    check = next(check for check, kinds in FINDING_KINDS.items() if kind in kinds)
    return FindingGroup(check, kind, cause, is_fault, findings, findings * 2, examples)


def test_findings_are_a_table_with_their_first_examples() -> None:
    copies = group(
        "duplicate", "idempotence_off", 1001, (example(5, "first at 3"), example(6, "first at 3")), is_fault=True
    )
    aborted = group("aborted_transaction", None, 1, (example(9, "aborted"),), is_fault=False)
    summary = Summary("a:9092", ("sequences", "events by key"), (TOTALS,), (copies, aborted))

    assert verdict_text(summary).splitlines() == [
        "Audit of a:9092: sequences, events by key",
        "  orders: 1,200 records in 3 batches of 1 partition, from 2 producers with an id",
        "",
        "check  found      cause            findings  records",
        "-----  ---------  ---------------  --------  -------",
        "event  duplicate  idempotence_off     1,001    2,002",
        "",
        "duplicate (idempotence off), the first 2:",
        "  orders-0 offset 5 event k1: first at 3",
        "  orders-0 offset 6 event k1: first at 3",
        "  advice: Set enable.idempotence=true and acks=all in the producer, so that the broker drops a retried batch.",
        "",
        "Findings that are not faults:",
        "check  found                cause  findings  records",
        "-----  -------------------  -----  --------  -------",
        "log    aborted_transaction  -             1        2",
        "",
        "aborted transaction, all:",
        "  orders-0 offset 9 event k1: aborted",
        "",
        "Verdict: 1,001 findings: 1,001 duplicate (idempotence off)",
    ]
    assert not summary.is_clean


def test_findings_that_are_not_faults_leave_a_log_clean() -> None:
    aborted = group("aborted_transaction", None, 1, (example(9, "aborted"),), is_fault=False)
    summary = Summary("a:9092", ("sequences",), (TOTALS,), (aborted,))

    assert verdict_text(summary).splitlines()[-1] == "Verdict: clean"
    assert summary.as_json()["verdict"] == "clean"


def test_an_empty_log_is_reported_as_such() -> None:
    lines = verdict_text(Summary("a:9092", ("sequences",), (), ())).splitlines()

    assert lines[1:] == ["  no records", "", "Verdict: clean, but there are no records"]


def test_an_empty_log_can_have_findings() -> None:
    lost = group("lost", None, 1, (example(9, "acknowledged"),), is_fault=True)

    lines = verdict_text(Summary("a:9092", ("sequences",), (), (lost,))).splitlines()

    assert lines[-1] == "Verdict: 1 finding: 1 lost"


def test_event_ids_and_damage_are_told_with_the_totals_of_their_topic() -> None:
    damaged = TopicTotals("orders", 1, 3, 1200, 9_000, 2, damaged_batches=2)
    other = TopicTotals("other", 1, 1, 1, 70, 0, damaged_batches=1)
    events = (
        EventTotals("orders", with_id=1190, ids=1100, without_id=8, empty_ids=3),
        EventTotals("other", with_id=1, ids=1, without_id=3, empty_ids=1, undecodable=2),
    )
    summary = Summary("a:9092", ("sequences", "events by key"), (damaged, other), (), events)

    assert verdict_text(summary).splitlines()[1:5] == [
        "  orders: 1,200 records in 3 batches of 1 partition, from 2 producers with an id, and 2 damaged batches",
        "    1,100 event ids in 1,190 committed records, 8 without one (3 empty)",
        "  other: 1 record in 1 batch of 1 partition, from 0 producers with an id, and 1 damaged batch",
        "    1 event id in 1 committed record, 3 without one (1 empty, 2 cannot be decoded)",
    ]


def test_a_finding_of_a_whole_topic_has_no_partition() -> None:
    hint = Example("orders", None, None, None, None, None, None, None, 9, None, "is this id unique?")
    summary = Summary(
        "a:9092", ("events by key",), (TOTALS,), (group("repeated_event_id", None, 1, (hint,), is_fault=True),)
    )

    assert "  orders: is this id unique?" in verdict_text(summary).splitlines()


def known(kind: str, findings: int, known: int, *examples: Example) -> FindingGroup:
    return FindingGroup("ledger", kind, None, True, findings, findings, examples, known)


def test_the_verdict_counts_known_new_and_gone_findings_and_shows_new_ones() -> None:
    groups = (
        known("lost", 14, 12, example(5, "gone"), replace(example(6, "known"), is_known=True)),
        known("gap", 1, 1),
    )
    summary = Summary("a:9092", ("sequences",), (TOTALS,), groups, baseline=Comparison("before.json", 3))

    lines = verdict_text(summary).splitlines()

    assert lines[3:6] == [
        "check   found  cause  findings  records  known",
        "------  -----  -----  --------  -------  -----",
        "ledger  lost   -            14       14     12",
    ]
    assert lines[8:10] == ["lost, the first 1 of 2 new ones:", "  orders-0 offset 5 event k1: gone"]
    assert lines[-1] == "Verdict: 15 findings, 13 known, 2 new: 2 lost; 3 of the baseline are gone"
    assert not any("known" in line for line in lines[10:-1])
    assert summary.is_failed


def test_known_findings_do_not_fail() -> None:
    summary = Summary("a", (), (TOTALS,), (known("lost", 2, 2),), baseline=Comparison("before.json", 0))

    assert verdict_text(summary).splitlines()[-1] == ("Verdict: 2 findings, 2 known, 0 new; 0 of the baseline are gone")
    assert (summary.is_failed, summary.is_clean) == (False, False)


def test_only_findings_of_the_chosen_kinds_fail() -> None:
    groups = (known("lost", 2, 0), known("gap", 1, 0))

    chosen = Summary("a", (), (TOTALS,), groups, fail_on=("lost",))
    other = Summary("a", (), (TOTALS,), groups, fail_on=("duplicate",))

    assert verdict_text(chosen).splitlines()[-1] == (
        "Verdict: 3 findings: 2 lost, 1 gap; 1 of a kind that --fail-on leaves out"
    )
    assert (chosen.is_failed, other.is_failed) == (True, False)


def test_a_harmless_kind_can_fail_too() -> None:
    aborted = group("aborted_transaction", None, 1, (example(9, "aborted"),), is_fault=False)
    summary = Summary("a", (), (TOTALS,), (aborted,), fail_on=("aborted_transaction",))

    assert verdict_text(summary).splitlines()[-1] == "Verdict: 1 finding: 1 aborted transaction"
    assert summary.is_failed


def test_the_audited_range_and_notes_follow_the_heading() -> None:
    starts, ends = {str(number): 5 for number in range(7)}, {str(number): 5 + number for number in range(7)}
    offsets = AuditedOffsets("since the given offsets", {"orders": starts}, {"orders": ends})
    summary = Summary("a:9092", ("sequences",), (TOTALS,), (), range=offsets, notes=("all is well",))

    assert verdict_text(summary).splitlines()[1:3] == [
        "  since the given offsets: nothing of orders-0, offsets 5 to 5 of orders-1, offsets 5 to 6 of orders-2, "
        "offsets 5 to 7 of orders-3, offsets 5 to 8 of orders-4, 2 more",
        "  note: all is well",
    ]


def test_an_example_is_one_line_that_no_terminal_obeys() -> None:
    text = example_text(replace(example(3, "again"), event_id="a\n\nVerdict: clean\x1b[2J заказ"))

    assert text == "orders-0 offset 3 event a\\n\\nVerdict: clean\\x1b[2J заказ: again"


def test_a_comparison_has_both_sides_of_each_topic() -> None:
    topics = (ComparedTopic("orders", 1200, 1, 0),)
    summary = Summary("topic://a:9092/orders", ("by offsets",), (), (), other="./sink", compared=topics)

    assert verdict_text(summary).splitlines() == [
        "Comparison of topic://a:9092/orders with ./sink: by offsets",
        "  orders: 1,200 records on the left side, 1 on the right side, 0 arrived",
        "",
        "Verdict: clean",
    ]
