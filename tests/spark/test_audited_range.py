"""The audit of a part of a log: it finds what is inside the part, and nothing that the whole log does not have."""

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.checks.earlier_transactions import OPEN_KINDS
from fauxka.pipeline.cluster.spark_session import register
from fauxka.protocol.batches.record_batch import parse_header
from fauxka.storage.log_files import PartitionName

from ..planted.audited import AS_OF_MS, NAMES
from ..planted.event_faults import TRANSACTIONAL, clean_batch
from ..planted.events import HEADER, START_MS, STARTS, Found, Sender
from ..planted.log_folder import LogFolder, write_log
from ..planted.planted_log import PlantedLog
from ..planted.plants import BROKER_PLANTS, planted_log

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# Findings of a whole partition, topic or journal are not inside a part of a log.
OF_MORE = {"missing_offsets", "compacted", "repeated_event_id", "requests_reordered", "no_event_id"}
PLANTED = tuple(plant for plant in BROKER_PLANTS if plant.__name__ not in OF_MORE)
FIRST, SECOND = PartitionName("orders", 0), PartitionName("orders", 2)
# A transaction that is cut has its other part in the other half.
OF_TRANSACTIONS = {"aborted_transaction", "open_transaction"}

DAY_MS = 86_400_000

Cuts = dict[PartitionName, int]


def as_offsets(cuts: Cuts) -> str:
    """Return offsets as in the options of the data source."""
    topics: dict[str, dict[str, int]] = {}
    for name, offset in cuts.items():
        topics.setdefault(name.topic_name, {})[str(name.partition)] = offset
    return json.dumps(topics)


def findings(spark: SparkSession, written: LogFolder, **offsets: Cuts) -> Counter[Found]:
    """Return the findings between offsets (startingOffsets, endingOffsets) by partition."""
    options = {"path": str(written.log), **{name: as_offsets(cuts) for name, cuts in offsets.items()}}
    request = AuditRequest(options, event_id=f"header:{HEADER}", sent=str(written.sent), as_of_ms=AS_OF_MS)
    return Counter(Found(**row.asDict()) for row in audit(spark, request).select(*NAMES).collect())


def cuts_of(log: PlantedLog, random: Random) -> Cuts:
    """Return an offset in the middle third of each partition, at or within a batch."""
    lengths = {name: log.offsets[name] - start for name, start in STARTS.items()}
    return {name: STARTS[name] + random.randrange(length // 3, length * 2 // 3) for name, length in lengths.items()}


def is_inside(found: Found, cuts: Cuts, ends: Cuts, whole: Counter[Found]) -> bool:
    """Whether all offsets of a finding, and those of its transaction, are in the same half. ends: of the log."""
    if found.partition is None or found.offset is None or found.cause == "other_partition":
        return False
    name = PartitionName(found.topic, found.partition)
    if found.kind == "offset_differs" and (found.other_offset or 0) >= ends[name]:
        # A line of the ledger behind the end of a part is not of that part.
        return False
    offsets = {found.offset} if found.other_offset is None else {found.offset, found.other_offset}
    for one in whole:
        is_transaction = one.kind == "aborted_transaction" and (one.topic, one.partition) == tuple(name)
        if is_transaction and (one.offset or 0) <= found.offset < (one.other_offset or 0):
            offsets |= {one.offset or 0, one.other_offset or 0}
    # The header of a batch is in the half of its first record.
    return name in cuts and len({offset >= cuts[name] for offset in offsets}) == 1


@pytest.mark.parametrize("seed", range(2))
def test_two_halves_find_what_the_whole_log_has_inside_them_and_nothing_else(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    register(spark)
    log = planted_log(seed, PLANTED)
    written = write_log(log, tmp_path)
    cuts = cuts_of(log, Random(seed))
    whole = findings(spark, written)

    first = findings(spark, written, endingOffsets=cuts)
    second = findings(spark, written, startingOffsets=cuts)

    inside = Counter({found: count for found, count in whole.items() if is_inside(found, cuts, log.offsets, whole)})
    assert inside - (first + second) == Counter(), f"seed {seed}, cuts {cuts}: inside a half, and not found"
    # A transaction that never ends is found in its own half and in the later one.
    unended = {found for found in whole if found.kind in OPEN_KINDS and found in first}
    invented = {found: count for found, count in (first + second - whole).items() if found not in unended or count > 1}
    assert {found.kind for found in invented} <= OF_TRANSACTIONS, f"seed {seed}, cuts {cuts}: {invented}"


def log_of(*partitions: PartitionName) -> PlantedLog:
    """Return a log with a clean batch in each of the partitions, and no others."""
    log = PlantedLog(Random(0), batches={name: [] for name in partitions})
    for name in partitions:
        clean_batch(log, name)
    return log


def audited(spark: SparkSession, written: LogFolder, offset: int, as_of_ms: int | None = None) -> list[Found]:
    """Return the findings from an offset of the first partition on."""
    options = {"path": str(written.log), "startingOffsets": as_offsets({FIRST: offset})}
    return [
        Found(**row.asDict()) for row in audit(spark, AuditRequest(options, as_of_ms=as_of_ms)).select(*NAMES).collect()
    ]


def test_a_transaction_that_began_before_the_range_and_never_ends_hangs(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    log = PlantedLog(Random(0), batches={FIRST: [], SECOND: []})
    log.append(FIRST, log.new_events(FIRST, 2), Sender(TRANSACTIONAL, is_transactional=True))
    start = log.offsets[FIRST]
    for name in (FIRST, FIRST, SECOND, SECOND):
        clean_batch(log, name)

    found = audited(spark, write_log(log, tmp_path), start, START_MS + DAY_MS)

    assert found == [Found("log", "hanging_transaction", None, *FIRST, 0, count=2)]


def test_offsets_missing_at_the_start_of_the_range_are_found(spark: SparkSession, tmp_path: Path) -> None:
    register(spark)
    log = log_of(FIRST, FIRST, FIRST, SECOND, SECOND)
    lost = parse_header(log.batches[FIRST].pop(1))
    found = audited(spark, write_log(log, tmp_path), lost.base_offset)
    log.cleaned[FIRST] = lost.last_offset + 1
    cleaned = audited(spark, write_log(log, tmp_path), lost.base_offset)

    missing = lost.last_offset + 1 - lost.base_offset
    offsets = (lost.last_offset + 1, lost.base_offset - 1)
    # Each of the two batches has a segment of its own.
    assert found == [Found("log", "missing_offsets", "before_segment", *FIRST, *offsets, count=missing)]
    assert [(one.kind, one.offset) for one in cleaned] == [("compacted_offsets", lost.last_offset + 1)]
