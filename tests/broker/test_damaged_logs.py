"""Damaged segments: what a real Kafka returned from them, and fauxka's answers to the same questions.

Kafka serves damaged segments as they are, skips a batch that is cut, and believes every base offset. So most answers
differ. The rules that hold here instead are tests of their own.
"""

from __future__ import annotations

import io
import json
import re
import signal
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import pytest

from ..each_case import each_case
from ..golden.capture_damaged_logs import (
    CONFIG,
    GOLDEN,
    KILLED,
    KILLED_AGAIN,
    STOPPED,
    STOPS,
    RunningBroker,
    capture,
    capture_from_kafka,
)
from ..golden.damaged_logs import DAMAGES, LOG_END, RECORDS, TOPICS
from ..serving_process import Serving, serving, stop

Answers = Mapping[str, object]
Key = tuple[str, str, str]

GOLDEN_ANSWERS: dict[Key, object] = {
    (line["stop"], line["index"], line["damage"]): line["answers"]
    for line in map(json.loads, GOLDEN.read_text().splitlines())
}

# Kafka returns the same for these.
SAME = {"none", "closed: records of the second batch"}
# Nothing in the file shows that a batch was there: a compacted log looks the same.
UNNOTICED = {
    "closed: without the first batch",
    "closed: without the second batch",
    "active: without the second batch",
}
# Recovery rebuilds the indexes, which are all that shows the missing end of a segment. So the gap is only logged.
GAPS = {(STOPPED, "closed: deleted"), (KILLED_AGAIN, "closed: deleted")} | {
    (KILLED, damage) for damage in ("closed: deleted", "closed: empty", "closed: cut between two batches")
}
# No batch follows that contradicts the offset, and without a recovery point a gap is no damage.
BELIEVED = {
    (KILLED, "active: base offset 33 becomes 35"),
    (KILLED, "active: base offset 33 becomes 97"),
}
# Kafka's high watermark is 56 for a moment, and then 36: one of three captures had the first answers.
VOLATILE = (KILLED, "dense", "active: base offset 24 becomes 56")
ERROR = re.compile(r"at (\d+): error 2")
BATCH = re.compile(r"(-?\d+)\.\.(-?\d+)")
OWN_BATCHES = {f"{first}..{first + RECORDS - 1}" for first in range(0, LOG_END, RECORDS)}


class KillableServer:
    """A server process as the capture program uses it."""

    def __init__(self, server: Serving) -> None:
        self._server = server
        self.address = server.bootstrap

    def kill(self) -> None:
        stop(self._server, signal.SIGKILL)


class Servers:
    """Runs the servers of one capture, and keeps their logs."""

    def __init__(self) -> None:
        self.logs: list[str] = []

    @contextmanager
    def run(self, data: Path) -> Generator[RunningBroker, None, None]:
        config = [word for key, value in CONFIG.items() for word in ("-c", f"{key}={value}")]
        with TemporaryDirectory() as folder, serving(Path(folder), "--data-dir", str(data), *config) as server:
            yield KillableServer(server)
            if server.process.poll() is None:
                self.logs.append(stop(server, signal.SIGTERM).log)


@cache
def asked(how: str) -> tuple[dict[Key, Answers], list[str]]:
    """Return fauxka's answers after that stop, and the lines of its log."""
    output, servers = io.StringIO(), Servers()
    with TemporaryDirectory() as folder:
        capture(servers.run, Path(folder), how, output)
    lines = [json.loads(line) for line in output.getvalue().splitlines()]
    answers = {(line["stop"], line["index"], line["damage"]): line["answers"] for line in lines}
    return answers, servers.logs[-1].splitlines()


def answers_to(key: Key) -> Answers:
    return asked(key[0])[0][key]


def consumed_by(key: Key) -> list[str]:
    return cast(list[str], answers_to(key)["consumed"])


def fetched_by(key: Key) -> dict[str, str]:
    return cast(dict[str, str], answers_to(key)["fetched"])


def lines_about(key: Key) -> list[str]:
    how, topic, damage = key
    folder = f"{topic}-{list(DAMAGES).index(damage)}"
    levels = ('"level": "error"', '"level": "warning"')
    return [
        line
        for line in asked(how)[1]
        if any(level in line for level in levels) and (f'"{folder}/' in line or f'"{folder}:' in line)
    ]


def keys(*, without: Collection[tuple[str, str]] = ()) -> list[Key]:
    return [key for key in GOLDEN_ANSWERS if (key[0], key[2]) not in without]


def keys_of(*places: tuple[str, str]) -> list[Key]:
    return [key for key in GOLDEN_ANSWERS if (key[0], key[2]) in places]


@pytest.mark.deep
@pytest.mark.slice
@each_case(
    keys_of(*((how, damage) for how in STOPS for damage in SAME if how == STOPPED or damage == "none")), " | ".join
)
def test_the_same_is_served_as_by_kafka(key: Key) -> None:
    assert answers_to(key) == GOLDEN_ANSWERS[key]


@each_case(keys(), " | ".join)
def test_no_fetch_ends_in_bytes_of_a_damaged_batch(key: Key) -> None:
    assert not [text for text in fetched_by(key).values() if "bytes" in text]


@each_case(keys(without=BELIEVED), " | ".join)
def test_every_batch_with_a_right_crc_is_served_at_its_own_offset(key: Key) -> None:
    served = {text for fetched in fetched_by(key).values() for text in fetched.split(", ") if BATCH.fullmatch(text)}

    assert served <= OWN_BATCHES


@each_case(keys(without={*((how, damage) for how in STOPS for damage in UNNOTICED), *GAPS, *BELIEVED}), " | ".join)
def test_consumer_skips_no_offset(key: Key) -> None:
    offsets = [int(match[1]) for text in consumed_by(key) if (match := BATCH.fullmatch(text))]

    assert offsets == list(range(0, RECORDS * len(offsets), RECORDS))


@each_case(keys(), " | ".join)
def test_damage_that_stops_a_consumer_is_one_line_of_the_log(key: Key) -> None:
    lines = lines_about(key)

    assert len(lines) == 1 if ERROR.search(consumed_by(key)[-1]) else len(lines) <= 1, lines


@each_case(keys_of(*GAPS), " | ".join)
def test_gap_between_segments_is_one_line_of_the_log(key: Key) -> None:
    (line,) = lines_about(key)

    assert re.search(r"no records from offset 1[28] to 23", line)


@each_case(keys(without=BELIEVED), " | ".join)
def test_no_damage_lets_offsets_be_skipped_or_assigned_twice_before_the_damage(key: Key) -> None:
    answers = answers_to(key)

    assert answers["appended at"] == answers["latest"]
    assert int(cast(str, answers["latest"])) <= LOG_END


@each_case(keys_of(*BELIEVED), " | ".join)
def test_last_base_offset_is_believed_without_a_recovery_point_as_by_kafka(key: Key) -> None:
    assert answers_to(key) == GOLDEN_ANSWERS[key]


def test_every_damage_was_put_to_kafka() -> None:
    assert set(GOLDEN_ANSWERS) == {(how, topic, damage) for how in STOPS for topic in TOPICS for damage in DAMAGES}


@pytest.mark.reference
@pytest.mark.timeout(900)
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    output = io.StringIO()

    capture_from_kafka(tmp_path, output)

    assert comparable(output.getvalue()) == comparable(GOLDEN.read_text())


def comparable(text: str) -> list[object]:
    """Return the captured lines, without the answers that depend on Kafka's timing."""
    lines = [json.loads(line) for line in text.splitlines()]
    return [line for line in lines if (line["stop"], line["index"], line["damage"]) != VOLATILE]
