"""Findings compared with those of an earlier audit: known, new and gone."""

from pathlib import Path

import msgspec
import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audited_range import AuditedRange
from fauxka.pipeline.checks.baseline import Baseline, KnownFinding, count_gone, read_baseline, with_known
from fauxka.pipeline.checks.findings import FINDING_COLUMNS, FINDING_SCHEMA
from fauxka.pipeline.report.audit_summary import finding_groups, identities, kinds_by_topic
from fauxka.storage.log_files import PartitionName

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PARTITION = PartitionName("t", 0)
WHOLE = AuditedRange({PARTITION: 0}, {PARTITION: 100})
CHECKS = frozenset({"sequence", "log", "event", "ledger"})


def finding(kind: str, offset: int | None = None, **others: object) -> dict[str, object]:
    return {"check": "event", "kind": kind, "topic": "t", "partition": 0, "offset": offset, "count": 1} | others


def frame(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    return spark.createDataFrame([tuple(row.get(name) for name in FINDING_COLUMNS) for row in rows], FINDING_SCHEMA)


def baseline(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    """Return a baseline as the JSON of a verdict has it."""
    found = identities(frame(spark, *rows), {str(row["kind"]) for row in rows})
    return Baseline("before.json", tuple(msgspec.convert(found, list[KnownFinding]))).frame(spark)


def test_a_finding_is_known_by_its_identity_and_not_by_its_words(spark: SparkSession) -> None:
    known = baseline(
        spark,
        finding("duplicate", 3, event_id="a", detail="first at 1"),
        finding("lost", None, event_id="b", topic=None, partition=None),
        finding("hanging_transaction", 8, count=5, detail="5 records, 10 ms after it began"),
    )
    now = frame(
        spark,
        finding("duplicate", 3, event_id="a", detail="in other words"),
        finding("duplicate", 3, event_id="c"),
        finding("duplicate", 4, event_id="a"),
        finding("lost", None, event_id="b", topic=None, partition=None),
        finding("hanging_transaction", 8, count=9, detail="9 records, 99 ms after it began"),
    )

    judged = with_known(now, known).collect()

    assert {(row["kind"], row["offset"], row["event_id"]): row["is_known"] for row in judged} == {
        ("duplicate", 3, "a"): True,
        ("duplicate", 3, "c"): False,
        ("duplicate", 4, "a"): False,
        ("lost", None, "b"): True,
        ("hanging_transaction", 8, None): True,
    }


def test_findings_without_an_offset_are_known_as_often_as_before(spark: SparkSession) -> None:
    torn = [finding("damaged_batch", None, check="log", detail=f"at position {number}") for number in range(3)]

    judged = with_known(frame(spark, *torn), baseline(spark, *torn[:2]))

    assert sorted(row["is_known"] for row in judged.collect()) == [False, True, True]


def test_a_total_that_grows_is_new(spark: SparkSession) -> None:
    known = baseline(spark, finding("no_event_id", 5, count=7), finding("no_event_id", 6, partition=1, count=7))
    now = frame(spark, finding("no_event_id", 5, count=7), finding("no_event_id", 6, partition=1, count=8))

    judged = with_known(now, known)

    assert {row["partition"]: row["is_known"] for row in judged.collect()} == {0: True, 1: False}


def test_faults_that_an_audit_could_have_found_and_did_not_are_gone(spark: SparkSession) -> None:
    known = baseline(
        spark,
        finding("duplicate", 3, event_id="a"),
        finding("duplicate", 40, event_id="b"),
        finding("duplicate", 41, event_id="c"),
        finding("duplicate", 41, topic="other", event_id="c"),
        finding("aborted_transaction", 42, check="log"),
        finding("lost", 43, check="ledger", event_id="d"),
    )
    now = frame(spark, finding("duplicate", 40, event_id="b"))
    part = AuditedRange({PARTITION: 10}, {PARTITION: 100}, cut_starts=frozenset({PARTITION}))

    assert count_gone(now, known, WHOLE, CHECKS) == 3
    assert count_gone(now, known, part, CHECKS) == 2
    assert count_gone(now, known, part, CHECKS - {"ledger"}) == 1


def test_a_folder_of_findings_is_a_baseline(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    now = frame(spark, finding("duplicate", 3, event_id="a"))
    now.write.parquet(str(folder))

    judged = with_known(now, read_baseline(str(folder)).frame(spark))

    assert [row["is_known"] for row in judged.collect()] == [True]
    spark.range(1).write.parquet(str(tmp_path / "other"))
    with pytest.raises(BadOption, match=r"baseline: .*other has no column check, as the folder of --parquet has"):
        read_baseline(str(tmp_path / "other")).frame(spark)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "baseline: there is no {file}"),
        ("[]", "baseline: {file} is not a verdict of fauxka audit --json: Expected `object`"),
        ('{"verdict": "clean"}', "baseline: {file} is not a verdict of fauxka audit --json: "),
        (
            '{"findings": [], "findings_left_off": 5, "log_topics": []}',
            "baseline: {file} has 0 of 5 findings; use the folder of --parquet, which has all",
        ),
    ],
)
def test_a_file_that_is_no_whole_verdict_is_one_line(tmp_path: Path, content: str | None, words: str) -> None:
    file = tmp_path / "before.json"
    if content is not None:
        file.write_text(content)

    with pytest.raises(BadOption) as raised:
        read_baseline(str(file))

    assert str(raised.value).startswith(words.format(file=file))
    assert "\n" not in str(raised.value)


def test_groups_count_known_findings_and_show_new_ones_first(spark: SparkSession) -> None:
    rows = [finding("duplicate", offset, event_id=str(offset)) for offset in range(8)]
    judged = with_known(frame(spark, *rows), baseline(spark, *rows[:6])).cache()

    (group,) = finding_groups(judged)
    (kind,) = kinds_by_topic(judged)

    assert (group.findings, group.known, group.new) == (8, 6, 2)
    assert [(example.offset, example.is_known) for example in group.examples][:3] == [(6, False), (7, False), (0, True)]
    assert (kind.topic, kind.kind, kind.findings, kind.known, kind.examples) == ("t", "duplicate", 8, 6, group.examples)


def test_a_baseline_of_another_log_is_a_note() -> None:
    known = Baseline("before.json", (), frozenset({"cluster/a", "cluster/b"}))

    assert list(known.notes({"cluster/c"})) == [
        "the baseline before.json is of another log: it has none of the audited topics"
    ]
    assert list(known.notes({"cluster/b", "cluster/c"})) == []
    assert list(known.notes(set())) == []
