"""Committed offsets of consumer groups beside the log, and the history of their commits."""

import struct
from collections import defaultdict
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit, check_request
from fauxka.pipeline.checks.group_audit import PartitionEnds, audit_group_history, audit_group_offsets, ends_frame
from fauxka.pipeline.checks.group_commits import COMMITS_SCHEMA, latest_commits, read_commits
from fauxka.pipeline.cluster.spark_session import register
from fauxka.protocol.batches.records import iterate_records
from fauxka.protocol.stored_records.group_log_records import (
    GroupRecordType,
    OffsetCommitKey,
    OffsetCommitValue,
    record_type_of,
)
from fauxka.testing import Broker

from ..reference.log_client import batches_in, log_client
from .frames import at, batch, batches, marker, record, records, transactional

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

GOLDEN_LOG = Path(__file__).parents[1] / "golden" / "consumer_offsets-4.3.0.log"
GROUP_LOG = "__consumer_offsets"
MINUTE_MS = 60_000

# The log of the first frames: a hole at 10 to 14, an aborted transaction from 15 on, an open one from 21 on. It begins
# at 5 and ends at 31.
LOG = [
    batch(0, 0),
    batch(5, 5),
    transactional(15, 0, producer_id=8),
    marker(20, "abort", producer_id=8),
    transactional(21, 0, producer_id=9),
    batch(26, 10),
]
START, END, FIRST_OPEN = 5, 31, 21
# Kind, cause, other offset and count.
Found = tuple[str, str | None, int | None, int]
# The expected findings by committed offset.
COMMITTED: dict[int, list[Found]] = {
    3: [("unread_records_deleted", None, 5, 2)],
    5: [],
    10: [("offset_in_hole", None, 15, 1)],
    14: [("offset_in_hole", None, 15, 1)],
    15: [],
    17: [("uncommitted_read", "aborted_transaction", 15, 1)],
    20: [],
    21: [],
    24: [("uncommitted_read", "open_transaction", 21, 1)],
    31: [("uncommitted_read", "open_transaction", 21, 1)],
    34: [("offset_beyond_end", None, 31, 3)],
}


def plain(rows: list[Row]) -> list[Found]:
    return [(row["kind"], row["cause"], row["other_offset"], row["count"]) for row in rows]


@pytest.fixture(scope="module")
def of_offsets(spark: SparkSession) -> list[Row]:
    commits = spark.createDataFrame([(f"g{offset}", "t", 0, offset, None) for offset in COMMITTED], COMMITS_SCHEMA)
    ends = ends_frame(spark, [PartitionEnds("t", 0, START, END, FIRST_OPEN)])
    return audit_group_offsets(commits, ends, batches(spark, *LOG)).collect()


@pytest.mark.parametrize("offset", COMMITTED)
def test_a_committed_offset_is_compared_with_the_log(of_offsets: list[Row], offset: int) -> None:
    found = [row for row in of_offsets if row["group_id"] == f"g{offset}"]

    assert plain(found) == COMMITTED[offset]
    assert {(row["check"], row["offset"]) for row in found} <= {("group", offset)}


def key(group: str, topic: str = "t", version: int = 1) -> bytes:
    return struct.pack(">h", version) + OffsetCommitKey(group, topic, 0).encode()[2:]


def old_value(version: int, offset: int, timestamp: int) -> bytes:
    epoch = struct.pack(">i", 2) if version == 3 else b""
    expires = struct.pack(">q", timestamp + 1) if version == 1 else b""
    return (
        struct.pack(">hq", version, offset)
        + epoch
        + struct.pack(">h", 2)
        + b"md"
        + struct.pack(">q", timestamp)
        + expires
    )


def value(offset: int, minutes: float, metadata: str = "") -> bytes:
    time_ms = round(at(0).timestamp() * 1000 + minutes * MINUTE_MS)
    return OffsetCommitValue(offset=offset, metadata=metadata, commit_timestamp=time_ms).encode()


# The commits of each group in order: offset and minutes, None for a removed offset.
HISTORIES: dict[str, tuple[list[tuple[int, float] | None], list[Found]]] = {
    "forward": ([(0, 0), (5, 1), (9, 2)], []),
    "back": ([(5, 0), (2, 1), (9, 2)], [("commit_regression", None, 5, 3)]),
    "back-behind-a-removal": ([(5, 0), None, (2, 1)], []),
    "stalled": ([(2, 0), (5, 1), (5, 4), (5, 9)], [("stalled_commits", None, None, 3)]),
    "short-stall": ([(5, 1), (5, 5)], []),
    "at-the-end": ([(10, 1), (10, 30)], []),
    "went-on": ([(5, 1), (5, 30), (9, 31)], []),
    "removed-in-the-end": ([(5, 1), (5, 30), None], []),
}
VERSIONS = range(4)


@pytest.fixture(scope="module")
def commits(spark: SparkSession) -> DataFrame:
    """Return the commits of all histories, of values of old versions, of transactions, and records of other types."""
    contents: list[tuple[bytes, bytes | None]] = [
        (key(group), None if one is None else value(*one)) for group, (steps, _) in HISTORIES.items() for one in steps
    ]
    contents += [(key(f"version-{version}", version=version % 2), old_value(version, 7, 99)) for version in VERSIONS]
    contents += [(key("long"), value(8, 0, "m" * 300)), (struct.pack(">h", 2) + key("metadata")[2:], b"\0\3")]
    rows = [record(offset, None) | {"key": name, "value": stored} for offset, (name, stored) in enumerate(contents)]
    log = [batch(0, -1, len(rows))]
    last = len(rows)
    for producer_id, end in ((8, "commit"), (9, "abort"), (10, None)):
        content = {"key": key(f"transaction-{end}"), "value": value(4, 0), "is_transactional": True}
        rows.append(record(last, None, producer_id=producer_id) | content)
        log.append(transactional(last, 0, 1, producer_id=producer_id))
        if end is not None:
            log.append(marker(last + 1, end, producer_id=producer_id))
        last += 2
    return read_commits(records(spark, *rows), batches(spark, *log)).cache()


@pytest.fixture(scope="module")
def of_history(spark: SparkSession, commits: DataFrame) -> list[Row]:
    return audit_group_history(commits, batches(spark, batch(0, 0), batch(5, 5))).collect()


@pytest.mark.parametrize("group", HISTORIES)
def test_the_history_of_a_group_is_judged(of_history: list[Row], group: str) -> None:
    found = [row for row in of_history if row["group_id"] == group]

    assert plain(found) == HISTORIES[group][1]


def test_the_last_commits_are_those_of_all_versions_and_of_ended_transactions(commits: DataFrame) -> None:
    latest = {row["group_id"]: row for row in latest_commits(commits).collect()}

    assert {name for name in latest if name not in HISTORIES} == {
        *(f"version-{version}" for version in VERSIONS),
        *("long", "transaction-commit"),
    }
    assert {latest[f"version-{version}"]["committed_at"].timestamp() for version in VERSIONS} == {0.099}
    assert (latest["long"]["offset"], latest["long"]["committed_at"].timestamp()) == (8, at(0).timestamp())
    assert "removed-in-the-end" not in latest


def golden_commits() -> dict[tuple[str, str, int], tuple[int, int]]:
    """Return offset and commit time of the last commits of the log, as the decoder of the broker reads them."""
    found: dict[tuple[str, str, int], tuple[int, int]] = {}
    for stored in (one for part in batches_in(GOLDEN_LOG.read_bytes()) for one in iterate_records(part)):
        if stored.key is None or record_type_of(stored.key) != GroupRecordType.OFFSET_COMMIT:
            continue
        place = OffsetCommitKey.read(stored.key)
        name = (place.group, place.topic, place.partition)
        found.pop(name, None)
        if stored.value is not None:
            last = OffsetCommitValue.read(stored.value)
            # A client can commit -1, which OffsetFetch returns for no offset.
            if last.offset >= 0:
                found[name] = (last.offset, last.commit_timestamp)
    return found


def test_the_log_of_a_real_kafka_has_the_commits_that_its_decoder_reads(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    (tmp_path / f"{GROUP_LOG}-0").mkdir()
    (tmp_path / f"{GROUP_LOG}-0" / f"{0:020d}.log").write_bytes(GOLDEN_LOG.read_bytes())
    views: defaultdict[str, DataFrame] = defaultdict()
    for view in ("records", "batches"):
        reader = spark.read.format("fauxka-log").options(path=str(tmp_path), topics=GROUP_LOG, view=view)
        views[view] = reader.load()

    latest = latest_commits(read_commits(views["records"], views["batches"])).collect()

    expected = golden_commits()
    assert len(expected) > 3
    assert {
        (row["group_id"], row["topic"], row["partition"]): (
            row["offset"],
            round(row["committed_at"].timestamp() * 1000),
        )
        for row in latest
    } == expected


# Group, kind, offset and count.
GroupFound = tuple[str, str, int, int]
EXPECTED: list[GroupFound] = [
    ("back", "commit_regression", 6, 2),
    ("beyond", "offset_beyond_end", 12, 2),
    ("unread", "unread_records_deleted", 1, 3),
]


def findings(spark: SparkSession, groups: str = "all", **place: str) -> list[GroupFound]:
    request = check_request(AuditRequest({**place, "topics": "orders"}, groups=groups)).request
    rows = audit(spark, request).collect()
    return sorted((row["group_id"], row["kind"], row["offset"], row["count"]) for row in rows)


@pytest.fixture(scope="module")
def scene(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[GroupFound], str]:
    """Return what is found on a fauxka with four groups, of which one only is right, and its folder after the stop."""
    register(spark)
    folder = tmp_path_factory.mktemp("groups") / "data"
    with Broker(data_dir=folder) as broker:
        broker.topics.create("orders", partitions=1)
        broker.topics.seed("orders", [{"value": str(number)} for number in range(10)])
        for group, offset in (("right", 10), ("back", 8), ("back", 6), ("beyond", 12), ("unread", 1)):
            broker.groups.set_offsets(group, {("orders", 0): offset}, force=True)
        with log_client(broker.bootstrap_servers) as client:
            client.delete_records("orders", 4)
        on_broker = findings(spark, bootstrap=broker.bootstrap_servers)
    return on_broker, str(folder)


def test_the_groups_of_a_broker_are_audited(scene: tuple[list[GroupFound], str]) -> None:
    assert scene[0] == EXPECTED


def test_the_folder_of_the_broker_has_the_same_findings(
    spark: SparkSession, scene: tuple[list[GroupFound], str]
) -> None:
    assert findings(spark, path=scene[1]) == EXPECTED


def test_only_the_named_groups_are_audited(spark: SparkSession, scene: tuple[list[GroupFound], str]) -> None:
    assert findings(spark, "right,unread", path=scene[1]) == [EXPECTED[2]]
