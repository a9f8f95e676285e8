"""Parsing of command-line options of the form KEY=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from ..bad_option import BadOption


def parse_assignments(option: str, assignments: Sequence[str]) -> dict[str, str]:
    """Return values by key. Raises BadOption, which names the option, for a text that is not KEY=VALUE."""
    settings: dict[str, str] = {}
    for assignment in assignments:
        key, separator, value = assignment.partition("=")
        if not separator or not key:
            raise BadOption(f"{option}: must be KEY=VALUE, not {assignment}")
        settings[key] = value
    return settings
