"""Faults planted in segment files and a ledger: the audits find exactly those."""

import json
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.checks.event_audit import audit_events
from fauxka.pipeline.checks.event_id import event_id_column
from fauxka.pipeline.checks.findings import all_findings
from fauxka.pipeline.checks.ledger_audit import audit_ledger
from fauxka.pipeline.checks.log_bounds import bounds_frame, read_bounds
from fauxka.pipeline.checks.sent_ledger import read_sent
from fauxka.pipeline.checks.sequence_audit import audit_sequences
from fauxka.pipeline.read.log_frame import read_log
from fauxka.protocol.batches.record_batch import Compression

from ..pipeline.planted_faults import committed, failed_and_absent, planted_log
from ..pipeline.planted_log import HEADER, Found, PlantedLog
from ..serving_process import run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

# Small splits, so that many batches are at the edge of one.
SPLIT_BYTES = "4096"
COMMAND_SECONDS_MAX = 400


def read(spark: SparkSession, folder: Path, view: str) -> DataFrame:
    return read_log(spark, {"path": str(folder), "view": view, "splitBytes": SPLIT_BYTES}).cache()


def findings(spark: SparkSession, log: PlantedLog, folder: Path) -> Counter[Found]:
    """Write the log, and return the findings of all audits."""
    sent = read_sent(spark, log.write(folder))
    records, batches = read(spark, folder, "records"), read(spark, folder, "batches")
    event_id = event_id_column(f"header:{HEADER}")
    found = all_findings(
        audit_sequences(batches),
        audit_events(records, event_id, batches),
        audit_ledger(records, sent, event_id, batches, bounds_frame(spark, read_bounds({"path": str(folder)}))),
    )
    columns = ("check", "kind", "cause", "partition", "offset", "other_offset", "event_id", "count")
    return Counter(Found(**row.asDict()) for row in found.select(*columns).collect())


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_planted_faults_are_found(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    log = planted_log(seed)

    found = findings(spark, log, tmp_path)

    assert found - log.expected == Counter(), f"seed {seed}: found, and not planted"
    assert log.expected - found == Counter(), f"seed {seed}: planted, and not found"


def test_the_command_finds_the_same_number_of_each_kind(tmp_path: Path) -> None:
    log = planted_log(0)
    sent = log.write(tmp_path)
    what = ("--path", str(tmp_path), "--event-id", f"header:{HEADER}", "--sent", sent)

    ended = run("audit", "--master", "local[2]", "--json", "-", *what, seconds_max=COMMAND_SECONDS_MAX)

    assert ended.exit_code == 1, ended.log
    groups = json.loads(ended.output)["groups"]
    assert {(group["check"], group["kind"], group["cause"]): group["findings"] for group in groups} == Counter(
        (found.check, found.kind, found.cause) for found in log.expected.elements()
    )


def test_a_log_without_faults_has_no_findings(spark: SparkSession, tmp_path: Path) -> None:
    log = planted_log(0, [committed, failed_and_absent], each_max=5)

    assert findings(spark, log, tmp_path) == Counter()


def test_a_planted_log_has_every_codec(spark: SparkSession, tmp_path: Path) -> None:
    planted_log(0).write(tmp_path)

    codecs = read_log(spark, {"path": str(tmp_path), "view": "batches"}).groupBy("codec").count()

    assert {row["codec"] for row in codecs.collect()} == {codec.name.lower() for codec in Compression}
