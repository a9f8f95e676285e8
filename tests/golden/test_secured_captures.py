"""The cases of secured_captures put to a fauxka with the same keys and users: its answers equal Kafka's."""

import io
from pathlib import Path

import pytest

from .captures import golden_file
from .line_comparison import check_lines, lines_of
from .regenerate import regenerate
from .secured_captures import SECURED_CAPTURES


def captured(name: str) -> list[str]:
    return lines_of(golden_file(name).read_text())


def answered_by_fauxka(name: str) -> list[str]:
    output = io.StringIO()
    SECURED_CAPTURES[name].from_fauxka(output)
    return lines_of(output.getvalue())


@pytest.mark.parametrize("name", SECURED_CAPTURES)
def test_fauxka_answers_as_kafka_did(name: str) -> None:
    check_lines(answered_by_fauxka(name), captured(name))


@pytest.mark.reference
@pytest.mark.parametrize("name", SECURED_CAPTURES)
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    regenerate(name, tmp_path / "answers.jsonl")

    assert lines_of((tmp_path / "answers.jsonl").read_text()) == captured(name)
