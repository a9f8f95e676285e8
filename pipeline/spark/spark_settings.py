"""Spark's keys as the commands take them: -c KEY=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from ..bad_option import BadOption


def settings_of(assignments: Sequence[str]) -> dict[str, str]:
    """Return KEY=VALUE texts as a table. Raises BadOption."""
    settings: dict[str, str] = {}
    for assignment in assignments:
        key, separator, value = assignment.partition("=")
        if not separator or not key:
            raise BadOption(f"conf: KEY=VALUE, not {assignment}")
        settings[key] = value
    return settings
