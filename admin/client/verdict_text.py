"""A verdict on a topic as text, from the JSON of the admin API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any

# More findings have the same few causes.
FINDINGS_MAX = 10
# Records that retention or DeleteRecords deleted are no fault. They are the last findings of a verdict.
HARMLESS_KINDS = frozenset({"deleted"})
_INDENT = "  "


def verdict_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the counts and the first findings. width: the longest line in columns."""
    for part in ("batches", "records"):
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in verdict[part].items())
        yield from indented(f"{part}: {counts}", width)
    findings: list[Mapping[str, Any]] = verdict["findings"]
    for finding in findings[:FINDINGS_MAX]:
        yield from indented(f"{finding['kind']}: {finding['why']}", width)
    left_out = len(findings) + int(verdict.get("findings_left_out", 0)) - FINDINGS_MAX
    if left_out > 0:
        yield from indented(f"and {left_out} more findings", width)


def finding_count(verdict: Mapping[str, Any]) -> int:
    """Return the number of findings without the harmless ones, with those that the broker left out."""
    kinds = [finding["kind"] for finding in verdict["findings"]]
    are_all_listed = bool(kinds) and kinds[-1] in HARMLESS_KINDS
    left_out = 0 if are_all_listed else int(verdict.get("findings_left_out", 0))
    return sum(kind not in HARMLESS_KINDS for kind in kinds) + left_out


def indented(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text with an indent, deeper from the second line on."""
    return (_INDENT + line for line in wrap(text, width - len(_INDENT), subsequent_indent=_INDENT * 4))
