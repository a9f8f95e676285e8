"""Parsing of the command-line option -c KEY=VALUE for Spark configuration keys."""

from __future__ import annotations

from collections.abc import Sequence

from ..bad_option import BadOption


def settings_of(assignments: Sequence[str]) -> dict[str, str]:
    """Return Spark configuration values by key. Raises BadOption for a text that is not KEY=VALUE."""
    settings: dict[str, str] = {}
    for assignment in assignments:
        key, separator, value = assignment.partition("=")
        if not separator or not key:
            raise BadOption(f"conf: must be KEY=VALUE, not {assignment}")
        settings[key] = value
    return settings
