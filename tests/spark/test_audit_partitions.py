"""--by-partition: verdicts that an interrupted audit has left, and what is refused before Spark starts."""

import io
import json
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fauxka.pipeline import audit_partitions
from fauxka.pipeline.audit_partitions import run_partitions
from fauxka.pipeline.audit_run import AuditRun
from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.audit_job import AuditRequest
from fauxka.pipeline.checks.baseline import Baseline
from fauxka.pipeline.report import verdict_run
from fauxka.pipeline.report.summary import Summary, TopicKind
from fauxka.pipeline.report.verdict_run import VerdictRun
from fauxka.pipeline.schemas.schema_options import SchemaOptions

from ..pipeline.logs_on_disk import batches, write_segment

# Plain functions of modules that import pyspark.
pytestmark = [pytest.mark.spark, pytest.mark.slice]

SINCE = {"startingTimestamp": "0", "startingOffsetsByTimestampStrategy": "latest"}


class FakeSpark:
    """A session of which only the cache is used."""

    catalog: "FakeSpark"

    def __init__(self) -> None:
        self.catalog = self

    def clearCache(self) -> None:
        pass


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The topics of the audits, which are done without Spark."""
    topics: list[str] = []

    @contextmanager
    def logged_session(*_: object) -> Generator[FakeSpark, None, None]:
        yield FakeSpark()

    def audited_summary(_: object, run: AuditRun, *__: object) -> tuple[Summary, tuple[TopicKind, ...]]:
        topics.append(run.request.options["topics"])
        return Summary(log=run.request.options["path"], checks=run.request.checks, topics=(), groups=()), ()

    monkeypatch.setattr(verdict_run, "logged_session", logged_session)
    monkeypatch.setattr(audit_partitions, "audited_summary", audited_summary)
    return topics


@pytest.fixture
def log(tmp_path: Path) -> Path:
    for topic in ("a", "b"):
        write_segment(tmp_path / "log" / f"{topic}-0", batches(0, 3))
    return tmp_path / "log"


def run_of(log: Path, **options: str) -> AuditRun:
    return AuditRun(AuditRequest({"path": str(log), **options}))


def run(audit: AuditRun, folder: Path) -> int:
    return run_partitions(audit, str(folder), io.StringIO())


def with_request(audit: AuditRun, **changes: Any) -> AuditRun:
    return replace(audit, request=replace(audit.request, **changes))


def with_options(audit: AuditRun, **options: str) -> AuditRun:
    return with_request(audit, options={**audit.request.options, **options})


# The option that is another one, and the change of the audit.
CHANGES: dict[str, Callable[[AuditRun], AuditRun]] = {
    "tier": lambda audit: with_options(audit, tier=audit.request.options["path"]),
    "since": lambda audit: with_options(audit, **SINCE),
    "until": lambda audit: with_options(audit, endingTimestamp="9"),
    "as-of": lambda audit: with_request(audit, as_of_ms=7),
    "checks": lambda audit: with_request(audit, event_id="key"),
    "schema": lambda audit: with_request(audit, schemas=SchemaOptions(schema_id_bytes=8)),
    "empty-id-is-an-id": lambda audit: with_request(audit, is_empty_an_id=True),
    "late-after": lambda audit: with_request(audit, late_after_ms=7),
    "fail-on": lambda audit: replace(audit, verdict=VerdictRun(fail_on=("lost",))),
    "baseline": lambda audit: replace(audit, verdict=VerdictRun(baseline=Baseline("known.json", ()))),
}


def test_the_same_audit_goes_on_with_the_partitions_without_a_verdict(
    log: Path, tmp_path: Path, audited: list[str]
) -> None:
    audit = with_request(run_of(log, **SINCE), event_time_field="json:$.t", late_after_ms=5)
    audit = replace(audit, verdict=VerdictRun(fail_on=("lost",)))
    assert run(audit, tmp_path / "v") == 0
    (tmp_path / "v" / "b-0.json").unlink()

    assert run(audit, tmp_path / "v") == 0

    assert audited == ["a", "b", "b"]
    assert json.loads((tmp_path / "v" / "b-0.json").read_text())["audit"]["since"] == "0"


@pytest.mark.parametrize("option", CHANGES)
def test_verdicts_of_another_audit_are_refused(log: Path, tmp_path: Path, audited: list[str], option: str) -> None:
    run(run_of(log), tmp_path / "v")

    with pytest.raises(BadOption) as raised:
        run(CHANGES[option](run_of(log)), tmp_path / "v")

    assert str(raised.value) == (
        f"by-partition: {tmp_path}/v/a-0.json is the verdict of an audit with other options ({option});"
        " set a new folder"
    )
    assert audited == ["a", "b"]


def test_a_file_that_is_no_verdict_is_refused(log: Path, tmp_path: Path, audited: list[str]) -> None:
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "a-0.json").write_text("{}")

    with pytest.raises(BadOption, match=r"by-partition: .*/v has a file that is no verdict"):
        run(run_of(log), tmp_path / "v")

    assert audited == []


def test_topics_that_are_not_there_are_refused(log: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOption) as raised:
        run(run_of(log, topics="a,nope"), tmp_path / "v")

    assert str(raised.value) == f"topics: {log} has no topic nope"


def test_a_log_without_batches_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "log" / "a-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020d}.log").touch()

    with pytest.raises(BadOption) as raised:
        run(run_of(folder.parent), tmp_path / "v")

    assert str(raised.value) == f"path: {folder.parent} contains no batches"


def test_a_folder_that_cannot_be_created_is_refused(log: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    reasons = {
        tmp_path / "file" / "v": f"by-partition: {tmp_path}/file is a file, not a folder",
        Path("/proc/xx"): f"by-partition: /proc/xx cannot be created: {os.strerror(2)}",
    }

    for folder, reason in reasons.items():
        with pytest.raises(BadOption) as raised:
            run(run_of(log), folder)
        assert str(raised.value) == reason
