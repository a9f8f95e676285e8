"""Faults planted in a log and its ledgers: the audits find exactly those."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fauxka.pipeline.checks.audit_job import AuditRequest, audit
from fauxka.pipeline.read.log_frame import read_log
from fauxka.pipeline.read.log_source import FauxkaLog
from fauxka.protocol.batches.record_batch import Compression

from ..planted.audited import AS_OF_MS, NAMES
from ..planted.event_faults import repeated_event_id
from ..planted.events import HEADER, Found
from ..planted.ledger_faults import failed_and_absent
from ..planted.log_folder import write_log
from ..planted.planted_log import PlantedLog
from ..planted.plants import PLANTS, planted_log
from ..planted.transaction_faults import committed
from ..serving_process import run

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

REPOSITORY = Path(__file__).parents[2]
# Small splits, so that many batches are at the edge of one.
SPLIT_BYTES = "4096"
COMMAND_SECONDS_MAX = 800
# Only the command counts the copies of a topic before it reports them.
OF_AUDITS = tuple(plant for plant in PLANTS if plant is not repeated_event_id)


def findings(spark: SparkSession, log: PlantedLog, folder: Path) -> Counter[Found]:
    """Write the log, and return the findings of all audits."""
    spark.dataSource.register(FauxkaLog)
    written = write_log(log, folder)
    options = {"path": str(written.log), "splitBytes": SPLIT_BYTES}
    request = AuditRequest(options, f"header:{HEADER}", str(written.sent), str(written.journal), as_of_ms=AS_OF_MS)
    return Counter(Found(**row.asDict()) for row in audit(spark, request).select(*NAMES).collect())


@pytest.mark.parametrize("seed", range(2))
def test_exactly_the_planted_faults_are_found(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    log = planted_log(seed, OF_AUDITS)

    found = findings(spark, log, tmp_path)

    assert found - log.expected == Counter(), f"seed {seed}: found, and not planted"
    assert log.expected - found == Counter(), f"seed {seed}: planted, and not found"


def test_the_command_finds_the_same_number_of_each_kind(tmp_path: Path) -> None:
    log = planted_log(0)
    written = write_log(log, tmp_path)
    what = ("--path", str(written.log), "--event-id", f"header:{HEADER}")
    ledgers = ("--sent", str(written.sent), "--journal", str(written.journal))

    ended = run("audit", "--master", "local[2]", "--json", "-", *what, *ledgers, seconds_max=COMMAND_SECONDS_MAX)

    assert ended.exit_code == 1, ended.log
    groups = json.loads(ended.output)["groups"]
    assert {(group["check"], group["kind"], group["cause"]): group["findings"] for group in groups} == Counter(
        (found.check, found.kind, found.cause) for found in log.expected.elements()
    )


def test_the_table_of_a_drawn_log_has_no_finding_that_is_wrong_or_missing() -> None:
    command = (sys.executable, "-m", "tests.planted", "--records", "2000")

    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=COMMAND_SECONDS_MAX)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "log: damaged_batch (wrong_crc)" in ended.stdout


def test_a_log_without_faults_has_no_findings(spark: SparkSession, tmp_path: Path) -> None:
    log = planted_log(0, [committed, failed_and_absent], each_max=5)

    assert findings(spark, log, tmp_path) == Counter()


def test_a_planted_log_has_every_codec(spark: SparkSession, tmp_path: Path) -> None:
    written = write_log(planted_log(0), tmp_path)

    codecs = read_log(spark, {"path": str(written.log), "view": "batches"}).groupBy("codec").count()

    assert {row["codec"] for row in codecs.collect()} >= {codec.name.lower() for codec in Compression}
