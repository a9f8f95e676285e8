"""The cases of secured_captures put to a fauxka with the same keys and users: its answers equal Kafka's."""

import io
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from .captures import golden_file
from .regenerate import regenerate
from .secured_captures import SECURED_CAPTURES


def lines_of(text: str) -> list[str]:
    """Return the lines. Cases have characters in their texts at which str.splitlines ends a line, too."""
    return text.removesuffix("\n").split("\n")


@cache
def captured(name: str) -> list[str]:
    return lines_of(golden_file(name).read_text())


@cache
def answered_by_fauxka(name: str) -> list[str]:
    output = io.StringIO()
    SECURED_CAPTURES[name].from_fauxka(output)
    return lines_of(output.getvalue())


def numbered_cases() -> Iterator[object]:
    for name in SECURED_CAPTURES:
        for number, line in enumerate(captured(name)):
            yield pytest.param(name, number, id=f"{name}-{number + 1}-{json.loads(line)['case']}")


@pytest.mark.parametrize(("name", "number"), list(numbered_cases()))
def test_fauxka_answers_as_kafka_did(name: str, number: int) -> None:
    assert json.loads(answered_by_fauxka(name)[number]) == json.loads(captured(name)[number])


@pytest.mark.parametrize("name", SECURED_CAPTURES)
def test_no_case_is_missing_from_the_golden_file(name: str) -> None:
    assert len(answered_by_fauxka(name)) == len(captured(name))


@pytest.mark.reference
@pytest.mark.parametrize("name", SECURED_CAPTURES)
def test_golden_file_equals_what_kafka_returns_today(name: str, tmp_path: Path) -> None:
    regenerate(name, tmp_path / "answers.jsonl")

    assert lines_of((tmp_path / "answers.jsonl").read_text()) == captured(name)
