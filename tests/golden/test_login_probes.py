"""The login probes put to a fauxka with the same keys and users: its answers equal Kafka's."""

import io
import json
import tempfile
from functools import cache
from pathlib import Path

import pytest

from ..each_case import check_each
from .capture_normal_form import Json
from .captures import golden_file
from .login_probes.brokers import fauxka_with_probes
from .login_probes.capture import capture, case_groups
from .login_probes.known import find_reason
from .regenerate import regenerate

FILE = golden_file("login_probes")
NAMES = [f"{case.name} on {case.listener}" for together in case_groups() for case in together]


def lines_of(text: str) -> dict[str, Json]:
    """Return the lines by their cases. The names in them have characters at which str.splitlines ends a line."""
    lines = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
    return {f"{line['case']} on {line['listener']}": line for line in lines}


@cache
def captured() -> dict[str, Json]:
    return lines_of(FILE.read_text())


def answered_by_fauxka() -> dict[str, Json]:
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, fauxka_with_probes(Path(folder)) as addresses:
        capture(addresses, output)
    return lines_of(output.getvalue())


@pytest.mark.deep
def test_fauxka_answers_as_kafka_did() -> None:
    different = {name: reason for name in NAMES if (reason := find_reason(name)) is not None}
    answers = answered_by_fauxka()

    def check(name: str) -> None:
        assert answers[name] == captured()[name]

    check_each([(name, name) for name in NAMES], check, different)


def test_every_case_is_in_the_golden_file_once() -> None:
    assert list(captured()) == NAMES


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate("login_probes", tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text() == FILE.read_text()
