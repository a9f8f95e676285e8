"""Every case of the capture programs put to a started fauxka: its answers equal Kafka's, but for those listed here."""

import io
import json
import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from fauxka.testing import Broker

from .capture_recorder import Recorder
from .captures import CAPTURES, CONFIG_OF, REFERENCE_CONFIG, golden_file
from .regenerate import regenerate

# Cases that are answered differently on purpose, by program and name, each with the reason.
DIFFERENT = {
    "configs": {
        "replaced: the same topic twice": "Kafka never answers this request; we refuse both resources",
    },
    "features": {
        "features after kraft.version 1 and a wrong one": (
            "a request that fails changes no level; Kafka has changed kraft.version before it finds the wrong one"
        ),
        "streams.version to 1": "groups of Kafka Streams are not served",
    },
    "topics": {
        "config: two bad ones": "which of several bad values is told first: Kafka's order is that of LogConfig",
    },
}


@contextmanager
def root_logger_as_kafkas() -> Generator[None, None, None]:
    """The captured Kafka ran without a logging configuration, which is ERROR."""
    root = logging.getLogger("fauxka")
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(level)


@cache
def answered_by_fauxka(name: str) -> list[str]:
    output = io.StringIO()
    with root_logger_as_kafkas(), Broker(REFERENCE_CONFIG | CONFIG_OF.get(name, {})) as broker:
        recorder = Recorder(broker.bootstrap_servers, output)
        recorder.pass_ms = broker.clock.advance
        CAPTURES[name](recorder)
        recorder.connection.close()
    return output.getvalue().splitlines()


def captured(name: str) -> list[str]:
    return golden_file(name).read_text().splitlines()


def cases() -> Iterator[object]:
    for name in CAPTURES:
        for number, line in enumerate(captured(name)):
            case = json.loads(line)
            reason = DIFFERENT.get(name, {}).get(case["case"])
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            case_id = f"{name}-{number + 1}-{case['api']}-v{case['version']}-{case['case']}"
            yield pytest.param(name, number, line, id=case_id, marks=marks)


@pytest.mark.parametrize(("name", "number", "line"), list(cases()))
def test_fauxka_answers_as_kafka_did(name: str, number: int, line: str) -> None:
    answers = answered_by_fauxka(name)

    assert json.loads(answers[number]) == json.loads(line)


@pytest.mark.parametrize("name", list(CAPTURES))
def test_no_case_is_missing_from_the_golden_file(name: str) -> None:
    assert len(answered_by_fauxka(name)) == len(captured(name))


@pytest.mark.reference
@pytest.mark.parametrize("name", list(CAPTURES))
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    regenerate(name, tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured(name)
