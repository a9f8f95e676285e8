"""A comparison of segment files, of which one is deleted while the sides are read."""

import io
import json
from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from fauxka.pipeline.checks.task_sizes import SHUFFLE_TASKS_KEY
from fauxka.pipeline.cluster.spark_session import register
from fauxka.pipeline.compare import compare_job
from fauxka.pipeline.compare.compare_request import CompareRequest
from fauxka.pipeline.compare.compare_run import run_compare
from fauxka.pipeline.compare.matching import Matching
from fauxka.pipeline.compare.side_rows import OpenedLog, read_rows
from fauxka.pipeline.compare.sides import Side, SideArguments, parse_side
from fauxka.pipeline.report import verdict_run
from fauxka.pipeline.report.audit_outputs import AuditOutputs
from fauxka.pipeline.report.verdict_run import VerdictRun

from ..pipeline.logs_on_disk import batches, write_segment

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]


def test_what_a_deleted_file_had_is_no_finding(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(spark)
    places = {name: tmp_path / name for name in ("left", "right")}
    for place in places.values():
        for base in (0, 10):
            write_segment(place / "t-0", batches(base, 5))
        write_segment(place / "u-0", batches(0, 5))
    # Lost between two records that arrived, in a topic without a deleted file.
    write_segment(places["right"] / "u-0", [*batches(0, 2), *batches(6, 2)])

    def delete_then_read(session: SparkSession, side: Side, opened: OpenedLog | None) -> DataFrame:
        if side.name == "left":
            (places["left"] / "t-0" / f"{0:020d}.log").unlink(missing_ok=True)
        return read_rows(session, side, opened)

    monkeypatch.setattr(compare_job, "read_rows", delete_then_read)

    def session(*_: object) -> nullcontext[SparkSession]:
        return nullcontext(spark)

    def many_tasks(*_: int) -> int:
        return 77

    monkeypatch.setattr(compare_job, "shuffle_tasks", many_tasks)
    monkeypatch.setattr(verdict_run, "logged_session", session)
    left, right = (parse_side(name, SideArguments(str(places[name]))) for name in ("left", "right"))
    tasks = spark.conf.get(SHUFFLE_TASKS_KEY)
    verdict = tmp_path / "verdict.json"
    run = VerdictRun(settings={SHUFFLE_TASKS_KEY: str(tasks)}, outputs=AuditOutputs(json=str(verdict)))

    exit_code = run_compare(CompareRequest(left, right, Matching("offsets")), run, io.StringIO())

    found = json.loads(verdict.read_text())
    assert exit_code == 1
    assert [(group["kind"], group["findings"]) for group in found["groups"]] == [("lost", 2)]
    deleted = {"topic": "t", "partition": 0, "files": 1, "start_offset": 0, "end_offset": 10, "replica": None}
    assert found["deleted"] == [deleted]
    assert any("deleted from the left side during this comparison: 1 file of t-0" in note for note in found["notes"])
    assert spark.conf.get(SHUFFLE_TASKS_KEY) == tasks
