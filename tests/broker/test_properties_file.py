"""Properties syntax as Java reads it: properties_java_17.jsonl was printed by programs/PropertiesLoad.java."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fauxka.storage.checkpoints.properties_file import PropertiesError, parse_properties

CAPTURED = Path(__file__).parent / "properties_java_17.jsonl"
CASES: list[tuple[str, dict[str, str] | None]] = [tuple(json.loads(line)) for line in CAPTURED.read_text().splitlines()]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_text_is_read_as_java_reads_it(text: str, expected: dict[str, str] | None) -> None:
    try:
        entries = parse_properties(text)
    except PropertiesError:
        entries = None

    assert entries == expected


@given(st.text(alphabet="ab=:#!\\ \t\n\ru0", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_properties(text)
    except PropertiesError as error:
        assert "\\u" in str(error)
