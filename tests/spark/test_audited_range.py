"""The audit of a part of a log: it finds what is inside the part, and nothing that the whole log does not have."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.cluster.spark_session import register
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.storage.checkpoints.checkpoint_files import CLEANER_OFFSET_CHECKPOINT

from ..pipeline.planted_faults import TRANSACTIONAL, clean_batch, planted_log
from ..pipeline.planted_log import HEADER, PARTITIONS, START_MS, TOPIC, Found, PlantedLog, Sender

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

COLUMNS = ("check", "kind", "cause", "partition", "offset", "other_offset", "event_id", "count")
# A transaction that is cut has its other part in the other half.
OF_TRANSACTIONS = {"aborted_transaction", "open_transaction"}

DAY_MS = 86_400_000

Cuts = dict[int, int]


def findings(spark: SparkSession, folder: Path, sent: str, **offsets: Cuts) -> Counter[Found]:
    """Return the findings between offsets (startingOffsets, endingOffsets) by partition."""
    options = {name: json.dumps({TOPIC: cuts}) for name, cuts in offsets.items()}
    request = AuditRequest({"path": str(folder), **options}, event_id=f"header:{HEADER}", sent=sent)
    return Counter(Found(**row.asDict()) for row in audit(spark, request).select(*COLUMNS).collect())


def cuts_of(log: PlantedLog, random: Random) -> Cuts:
    """Return an offset in the middle third of each partition, at or within a batch."""
    ends = {partition: log.offsets[partition] for partition in range(PARTITIONS)}
    return {partition: random.randrange(end // 3, end * 2 // 3) for partition, end in ends.items()}


def is_inside(found: Found, cuts: Cuts, whole: Counter[Found]) -> bool:
    """Whether all offsets of a finding, and those of its transaction, are in the same half."""
    if found.partition is None or found.offset is None or found.cause == "other_partition":
        return False
    offsets = {found.offset} if found.other_offset is None else {found.offset, found.other_offset}
    for one in whole:
        is_transaction = one.kind == "aborted_transaction" and one.partition == found.partition
        if is_transaction and (one.offset or 0) <= found.offset < (one.other_offset or 0):
            offsets |= {one.offset or 0, one.other_offset or 0}
    # The header of a batch is in the half of its first record.
    return len({offset >= cuts[found.partition] for offset in offsets}) == 1


@pytest.mark.parametrize("seed", range(2))
def test_two_halves_find_what_the_whole_log_has_inside_them_and_nothing_else(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    register(spark)
    log = planted_log(seed)
    sent = log.write(tmp_path)
    cuts = cuts_of(log, Random(seed))
    whole = findings(spark, tmp_path, sent)

    first = findings(spark, tmp_path, sent, endingOffsets=cuts)
    second = findings(spark, tmp_path, sent, startingOffsets=cuts)

    assert whole == log.expected
    inside = Counter({found: count for found, count in whole.items() if is_inside(found, cuts, whole)})
    assert inside - (first + second) == Counter(), f"seed {seed}, cuts {cuts}: inside a half, and not found"
    invented = first + second - whole
    assert {found.kind for found in invented} <= OF_TRANSACTIONS, f"seed {seed}, cuts {cuts}: {invented}"


def test_a_transaction_that_began_before_the_range_and_never_ends_hangs(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    log = PlantedLog(Random(0))
    log.append(0, log.new_events(0, 2), Sender(TRANSACTIONAL, is_transactional=True))
    start = log.offsets[0]
    for partition in (0, 0, 1, 1):
        clean_batch(log, partition)
    log.write(tmp_path)
    since = {"path": str(tmp_path), "startingOffsets": json.dumps({TOPIC: {"0": start}})}

    found = audit(spark, AuditRequest(since, as_of_ms=START_MS + DAY_MS)).select(*COLUMNS).collect()

    assert [Found(**row.asDict()) for row in found] == [Found("log", "hanging_transaction", None, 0, 0, count=2)]


def test_offsets_missing_at_the_start_of_the_range_are_found(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    log = PlantedLog(Random(0))
    for partition in (0, 0, 0, 1, 1):
        clean_batch(log, partition)
    lost = parse_header(log.batches[0].pop(1))
    log.write(tmp_path)
    since = {"path": str(tmp_path), "startingOffsets": json.dumps({TOPIC: {"0": lost.base_offset}})}

    found = audit(spark, AuditRequest(since)).select(*COLUMNS).collect()
    (tmp_path / CLEANER_OFFSET_CHECKPOINT).write_text(f"0\n1\n{TOPIC} 0 {lost.last_offset + 1}\n")
    cleaned = audit(spark, AuditRequest(since)).select(*COLUMNS).collect()

    place = (0, lost.last_offset + 1, lost.base_offset - 1)
    missing = lost.last_offset + 1 - lost.base_offset
    assert [Found(**row.asDict()) for row in found] == [Found("log", "missing_offsets", None, *place, count=missing)]
    assert [(row["kind"], row["offset"]) for row in cleaned] == [("compacted_offsets", lost.last_offset + 1)]
