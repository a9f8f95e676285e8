"""The lines of a capture, each compared with what fauxka answered to the same case."""

import json
from collections.abc import Mapping, Sequence

from ..each_case import check_each
from .capture_normal_form import Json


def lines_of(text: str) -> list[str]:
    """Return the lines. Cases have characters in their texts at which str.splitlines ends a line, too."""
    return text.removesuffix("\n").split("\n")


def check_lines(answered: Sequence[str], captured: Sequence[str], different: Mapping[str, str] | None = None) -> None:
    """Assert that every line equals the captured one of its number, and that none is missing.

    different: the reasons of cases that must differ.
    """
    numbered = [(_name_of(number, json.loads(line)), number) for number, line in enumerate(captured, 1)]
    reasons = {
        name: reason
        for name, number in numbered
        if (reason := (different or {}).get(str(json.loads(captured[number - 1])["case"]))) is not None
    }

    def check(number: int) -> None:
        assert number <= len(answered), f"fauxka has {len(answered)} lines"
        assert json.loads(answered[number - 1]) == json.loads(captured[number - 1])

    check_each(numbered, check, reasons)
    assert len(answered) == len(captured)


def _name_of(number: int, line: Mapping[str, Json]) -> str:
    version = f"{line['api']}-v{line['version']}-" if "api" in line and "version" in line else ""
    return f"{number}-{version}{line['case']}"
