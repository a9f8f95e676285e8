"""Checks and report text of scenarios with Spark."""

from collections import Counter

from fauxka.scenarios.expectations import Check
from fauxka.scenarios.report.report_text import report_text
from fauxka.scenarios.spark.job_checks import JobRunResult, check_jobs
from fauxka.scenarios.spark.job_engine import JobReport, StoredTopic
from fauxka.scenarios.spark.job_process import (
    AuditedTopic,
    AuditVerdict,
    FoundExample,
    FoundGroup,
    JobOutcome,
    TaskAttempt,
)
from fauxka.scenarios.spark.job_scenario import JobExpectation
from fauxka.scenarios.spark.job_step_runner import JobResults

FAILURE = "TimeoutException: Expiring 2 record(s)"
JOB = JobOutcome(
    status="succeeded",
    reason="",
    rows=2,
    seconds=1.5,
    attempts=[TaskAttempt(number=1, ended_ms=5, failure=FAILURE)],
)
EXAMPLE = FoundExample(topic="events", partition=0, offset=2, event_id="event-0001", detail="producer 0 epoch 1")
FOUND = FoundGroup(check="event", kind="duplicate", cause="sent_again", is_fault=True, findings=2, examples=[EXAMPLE])
AUDIT = AuditVerdict(
    verdict="findings",
    checks=["sequences"],
    topics=[AuditedTopic(topic="events", batches=2, records=4, producers=1)],
    groups=[FOUND],
)
DEDUP = ["read 4 records of events", "kept 2, in once (topic on 127.0.0.1:1)", "dropped 2 as further copies"]
SEEN = JobRunResult(
    JobResults(jobs={"write": JOB}, audits={"events": AUDIT}, dedups={"events": DEDUP}),
    {"events": Counter({"event-0001": 2, "event-0002": 2})},
)
MET = JobExpectation(
    jobs={"write": "succeeded"},
    failed_attempts={"write": 1},
    told={"write": "TimeoutException"},
    read={"write": 2},
    rows={"events": 4},
    events={"events": 2},
    found={"events": {"duplicate sent_again": 2}},
    dropped={"events": 2},
)
MISSED = JobExpectation(
    jobs={"write": "failed"},
    failed_attempts={"write": 0},
    told={"write": "InvalidRecordException"},
    read={"write": 1},
    rows={"events": 2},
    events={"events": 4},
    found={"events": {}},
    dropped={"events": 0},
)


def report(checks: list[Check]) -> JobReport:
    return JobReport(
        scenario="name",
        title="title",
        story="story",
        client="Spark",
        as_version="4.3",
        passed=all(check.passed for check in checks),
        checks=checks,
        verdict={},
        timeline=[],
        jobs=SEEN.results.jobs,
        stored=[StoredTopic(topic="events", rows=4, events=2, copies={2: 2})],
        audits=SEEN.results.audits,
        dedups=SEEN.results.dedups,
    )


def test_every_met_expectation_passes() -> None:
    checks = check_jobs(MET, SEEN)

    assert len(checks) == 8
    assert [check for check in checks if not check.passed] == []


def test_every_unmet_expectation_fails() -> None:
    checks = check_jobs(MISSED, SEEN)

    assert len(checks) == 8
    assert [check for check in checks if check.passed] == []


def test_the_report_has_sparks_findings_beside_the_audits() -> None:
    text = report_text(report(check_jobs(MET, SEEN)))

    said = text[text.index("Results") : text.index("Checks")].splitlines()
    assert said[1:] == [
        '  Spark         "write" succeeded after 1.5 s, 2 rows, 1 failed attempt of its task',
        "  the log       events: 4 rows, 2 different events: 2 events 2 times",
        "  the audit     events: 2 duplicate sent again; all sequences in order",
        "                events-0 offset 2, event event-0001: producer 0 epoch 1",
        "  the dedup     events: read 4 records of events",
        "                kept 2, in once (topic on 127.0.0.1:1)",
        "                dropped 2 as further copies",
        "",
    ]
    assert text.endswith("All checks passed.")


def test_unmet_expectation_is_reported() -> None:
    text = report_text(report(check_jobs(MISSED, SEEN)))

    assert "  FAIL  audit of events: expected nothing, seen 2 duplicate sent_again" in text
    assert text.endswith("Some checks FAILED.")
