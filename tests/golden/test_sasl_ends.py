"""The cases of capture_sasl_ends put to a fauxka with the same listeners: connections end as those to Kafka."""

import io
import json
import tempfile
from functools import cache
from pathlib import Path

import pytest

from .capture_sasl_ends import CONFIG, capture
from .captures import golden_file
from .regenerate import regenerate
from .sasl_brokers import fauxka_with_sasl

FILE = golden_file("sasl_ends")


@cache
def captured() -> list[str]:
    return FILE.read_text().splitlines()


@cache
def answered_by_fauxka() -> list[str]:
    output = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, fauxka_with_sasl(Path(folder), CONFIG) as addresses:
        capture(addresses, output)
    return output.getvalue().splitlines()


def case_ids() -> list[str]:
    return [f"{number}-{json.loads(line)['case']}" for number, line in enumerate(captured(), 1)]


@pytest.mark.parametrize("number", range(len(captured())), ids=case_ids())
def test_connection_ends_as_that_to_kafka_did(number: int) -> None:
    assert json.loads(answered_by_fauxka()[number]) == json.loads(captured()[number])


def test_no_case_is_missing_from_the_golden_file() -> None:
    assert len(answered_by_fauxka()) == len(captured())


@pytest.mark.reference
def test_golden_file_equals_what_kafka_returns_today(tmp_path: Path) -> None:
    regenerate("sasl_ends", tmp_path / "answers.jsonl")

    assert (tmp_path / "answers.jsonl").read_text().splitlines() == captured()
