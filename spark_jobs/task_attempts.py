"""The task attempts of a Spark job, from Spark's event log, because pyspark has no listener for them."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct, field

# Makes the log one uncompressed file.
EVENT_LOG_SETTINGS = {
    "spark.eventLog.enabled": "true",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.compress": "false",
}
EVENT_LOG_FOLDER_KEY = "spark.eventLog.dir"

_TASK_END = "SparkListenerTaskEnd"


class Attempt(Struct, kw_only=True):
    """One attempt of a task. number: from 1. ended_ms: since 1970. failure: one line, "" if the attempt succeeded."""

    stage: int
    task: int
    number: int
    ended_ms: int
    failure: str = ""


class _TaskInfo(Struct):
    index: int = field(name="Index")
    attempt: int = field(name="Attempt")
    finish_time: int = field(name="Finish Time")


class _EndReason(Struct):
    reason: str = field(name="Reason")
    class_name: str = field(name="Class Name", default="")
    description: str = field(name="Description", default="")


class _Event(Struct):
    """The fields of an event that are read; only the end of a task has more than the name."""

    event: str = field(name="Event")
    stage: int = field(name="Stage ID", default=-1)
    info: _TaskInfo | None = field(name="Task Info", default=None)
    end: _EndReason | None = field(name="Task End Reason", default=None)


def event_log_settings(folder: Path) -> dict[str, str]:
    """Return the Spark settings for an event log in an existing folder."""
    return {**EVENT_LOG_SETTINGS, EVENT_LOG_FOLDER_KEY: folder.absolute().as_uri()}


def read_attempts(folder: Path) -> list[Attempt]:
    """Return the attempts of all tasks in the order of their ends. The session must have been stopped before."""
    lines = [line for file in sorted(folder.iterdir()) if file.is_file() for line in file.read_bytes().splitlines()]
    return [attempt for line in lines if (attempt := _attempt_of(line)) is not None]


def _attempt_of(line: bytes) -> Attempt | None:
    if _TASK_END.encode() not in line:
        return None
    event = msgspec.json.decode(line, type=_Event)
    if event.event != _TASK_END or event.info is None or event.end is None:
        return None
    return Attempt(
        stage=event.stage,
        task=event.info.index,
        number=event.info.attempt + 1,
        ended_ms=event.info.finish_time,
        failure=_failure(event.end),
    )


def _failure(end: _EndReason) -> str:
    if end.reason == "Success":
        return ""
    words = end.description.splitlines()[:1] or [end.reason]
    name = end.class_name.rpartition(".")[2]
    return f"{name}: {words[0]}" if name else words[0]
