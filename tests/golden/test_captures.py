"""Every case of the capture programs put to a started fauxka: its answers equal Kafka's, but for those listed here."""

import io
import logging
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from fauxka.testing import Broker

from .capture_recorder import Recorder
from .captures import CAPTURES, CONFIG_OF, REFERENCE_CONFIG, golden_file, version_of
from .line_comparison import check_lines
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
    },
    "offsets_by_topic_id": {
        "before there is a coordinator": "the coordinator of a group is there from the start",
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


def answered_by_fauxka(name: str) -> list[str]:
    output = io.StringIO()
    config = REFERENCE_CONFIG | CONFIG_OF.get(name, {})
    with root_logger_as_kafkas(), Broker(config, as_version=version_of(name)) as broker:
        recorder = Recorder(broker.bootstrap_servers, output)
        recorder.pass_ms = partial(broker.clock.advance, members="expire")
        CAPTURES[name](recorder)
        recorder.connection.close()
    return output.getvalue().splitlines()


def captured(name: str) -> list[str]:
    return golden_file(name).read_text().splitlines()


@pytest.mark.parametrize("name", list(CAPTURES))
def test_fauxka_answers_as_kafka_did(name: str) -> None:
    check_lines(answered_by_fauxka(name), captured(name), DIFFERENT.get(name))


@pytest.mark.reference
@pytest.mark.parametrize("name", list(CAPTURES))
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    regenerate(name, tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured(name)
