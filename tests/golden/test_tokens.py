"""The cases of capture_tokens put to fauxkas with the same keys: their answers equal Kafka's."""

import io
import json
import tempfile
from functools import cache
from pathlib import Path

import pytest

from .capture_tokens import capture
from .captures import golden_file
from .regenerate import regenerate
from .token_brokers import CONFIG_OF, fauxka_with_tokens

FILE = golden_file("tokens")


@cache
def captured() -> list[str]:
    return FILE.read_text().splitlines()


@cache
def answered_by_fauxka() -> list[str]:
    output = io.StringIO()
    for broker in CONFIG_OF:
        with tempfile.TemporaryDirectory() as name, fauxka_with_tokens(Path(name), broker) as addresses:
            capture(addresses, broker, Path(name), output)
    return output.getvalue().splitlines()


def case_ids() -> list[str]:
    cases = [json.loads(line) for line in captured()]
    return [f"{number}-{case['broker']}-{case['case']}" for number, case in enumerate(cases, 1)]


@pytest.mark.parametrize("number", range(len(captured())), ids=case_ids())
def test_fauxka_answers_as_kafka_did(number: int) -> None:
    assert json.loads(answered_by_fauxka()[number]) == json.loads(captured()[number])


def test_no_case_is_missing_from_the_golden_file() -> None:
    assert len(answered_by_fauxka()) == len(captured())


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate("tokens", tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured()
