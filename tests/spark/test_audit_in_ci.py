"""`fauxka audit` as a CI job runs it: known findings, kinds that fail, JUnit XML."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from fauxka.pipeline.bad_option import BadOption
from fauxka.pipeline.checks.range_options import range_options
from fauxka.pipeline.report.audit_outputs import AuditOutputs
from fauxka.pipeline.report.summary import AuditedOffsets, Summary
from fauxka.testing import Broker

from .test_audit_command import audit, producer_at, send

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

NOW_MS = 1_767_268_800_000


def test_known_findings_do_not_fail_again_and_new_ones_do(tmp_path: Path) -> None:
    before, after, report, page = (tmp_path / name for name in ("before.json", "after.json", "junit.xml", "page.html"))
    with Broker() as broker:
        broker.topics.create("orders", partitions=1)
        log = ("--bootstrap", broker.bootstrap_servers, "--event-id", "key")
        producer = producer_at(broker.bootstrap_servers, is_idempotent=False)
        send(producer, (0, 1, 1))
        first = audit(*log, "--fail-on", "lost", "--json", str(before))
        send(producer, (2, 2))
        new = audit(
            *log,
            *("--baseline", str(before), "--json", str(after), "--junit", str(report), "--html", str(page)),
        )
    assert (first.exit_code, new.exit_code) == (0, 1), first.log + new.log
    assert first.output.splitlines()[-1].endswith(
        "1 duplicate (idempotence off); 1 of a kind that --fail-on leaves out"
    )
    assert new.output.splitlines()[-1] == (
        "Verdict: 2 findings, 1 known, 1 new: 1 duplicate (idempotence off); 0 of the baseline are gone"
    )
    verdict = json.loads(after.read_text())
    assert (verdict["verdict"], verdict["is_failed"]) == ("findings", True)
    assert [one["offset"] for one in verdict["findings"]] == [2, 4]
    assert verdict["log_topics"] == json.loads(before.read_text())["log_topics"] != []
    (failure,) = ElementTree.parse(report).getroot().findall("testsuite[@name='orders']/testcase/failure")
    assert (failure.get("type"), failure.get("message")) == ("duplicate", "2 duplicate, 1 known, 1 new")
    assert "0 findings of the baseline" in page.read_text()


def test_only_one_form_can_be_printed() -> None:
    with pytest.raises(BadOption, match=r"junit: only one of json and junit can be -"):
        AuditOutputs(json="-", junit="-").check()


def test_an_output_that_cannot_be_written_is_found_before_the_audit() -> None:
    with pytest.raises(BadOption, match=r"offsets-out: /nowhere/o\.json cannot be written"):
        AuditOutputs(offsets="/nowhere/o.json").check()


def test_the_ends_of_an_audit_are_the_start_of_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offsets = tmp_path / "offsets.json"
    ends = {"orders": {"0": 105, "1": 3}}
    summary = Summary("a:9092", ("sequences",), (), (), range=AuditedOffsets(None, {"orders": {"0": 5, "1": 0}}, ends))

    AuditOutputs(offsets=str(offsets)).write(summary)

    assert json.loads(range_options(str(offsets), None, NOW_MS)["startingOffsets"]) == ends
    assert [file.name for file in tmp_path.iterdir()] == ["offsets.json"]
    assert "Verdict" in capsys.readouterr().out
