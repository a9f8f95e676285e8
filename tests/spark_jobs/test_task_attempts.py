"""Task attempts, from the lines of Spark's event log."""

import json
from pathlib import Path

from fauxka.spark_jobs.task_attempts import Attempt, event_log_settings, read_attempts


def task_end(attempt: int, reason: dict[str, str], *, ended_ms: int) -> str:
    return json.dumps(
        {
            "Event": "SparkListenerTaskEnd",
            "Stage ID": 3,
            "Stage Attempt ID": 0,
            "Task Type": "ResultTask",
            "Task End Reason": reason,
            "Task Info": {"Task ID": 7, "Index": 1, "Attempt": attempt, "Finish Time": ended_ms, "Failed": True},
        }
    )


def test_each_attempt_has_the_first_line_of_its_failure(tmp_path: Path) -> None:
    failure = {
        "Reason": "ExceptionFailure",
        "Class Name": "org.apache.kafka.common.errors.TimeoutException",
        "Description": "Expiring 200 record(s)\nfor events-0",
    }
    lines = [
        json.dumps({"Event": "SparkListenerJobStart", "Job ID": 0}),
        task_end(0, failure, ended_ms=10),
        task_end(1, {"Reason": "TaskKilled"}, ended_ms=20),
        task_end(2, {"Reason": "Success"}, ended_ms=30),
    ]
    (tmp_path / "local-1").write_text("\n".join(lines) + "\n")

    assert read_attempts(tmp_path) == [
        Attempt(stage=3, task=1, number=1, ended_ms=10, failure="TimeoutException: Expiring 200 record(s)"),
        Attempt(stage=3, task=1, number=2, ended_ms=20, failure="TaskKilled"),
        Attempt(stage=3, task=1, number=3, ended_ms=30),
    ]


def test_the_event_log_is_one_plain_file_in_the_folder(tmp_path: Path) -> None:
    settings = event_log_settings(tmp_path)

    assert settings["spark.eventLog.dir"] == tmp_path.as_uri()
    assert (settings["spark.eventLog.rolling.enabled"], settings["spark.eventLog.compress"]) == ("false", "false")
