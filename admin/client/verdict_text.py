"""A verdict on a topic as text, from the JSON of the admin API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from textwrap import wrap
from typing import Any

from ...faults.flow.flow_verdict import FlowFinding, events_text
from ...faults.strict_json import convert

# More findings have the same few causes.
FINDINGS_MAX = 10
# Records that retention or DeleteRecords deleted are no fault. They are the last findings of a verdict.
HARMLESS_KINDS = frozenset({"deleted"})
_INDENT = "  "
_CountLines = Callable[[Mapping[str, Any], int], Iterator[str]]


def verdict_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the counts and the first findings. width: the longest line in columns."""
    count_lines, place_of = _FORMS[verdict["of"]]
    yield from count_lines(verdict, width)
    findings: list[Mapping[str, Any]] = verdict["findings"]
    for finding in findings[:FINDINGS_MAX]:
        yield from indented(f"{finding['kind']}: {place_of(finding)}{finding['why']}", width)
    left_out = len(findings) + int(verdict.get("findings_left_out", 0)) - FINDINGS_MAX
    if left_out > 0:
        yield from indented(f"and {left_out} more findings", width)


def _topic_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    for part in ("batches", "records"):
        counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in verdict[part].items())
        yield from indented(f"{part}: {counts}", width)


def _group_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the counts of each partition of a group, and what its verdict cannot tell."""
    for each in verdict["partitions"]:
        processed = "processed by its reports" if each["processed_from"] == "reports" else "processed"
        names = {"delivered": "delivered", "processed": processed, "committed": "committed", "lag": "lag"}
        counts = ", ".join(f"{shown} {each[name]}" for name, shown in names.items())
        yield from indented(f"{each['topic']}-{each['partition']}: {counts}", width)
    yield from _note_lines(verdict, width)


def _flow_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    """Yield the counts of events, and what the verdict on an application cannot tell."""
    counts = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in verdict["events"].items())
    yield from indented(f"events: {counts}", width)
    yield from _note_lines(verdict, width)


def _note_lines(verdict: Mapping[str, Any], width: int) -> Iterator[str]:
    for note in verdict["notes"]:
        yield from indented(note, width)


def _offsets(finding: Mapping[str, Any]) -> str:
    first, last = finding["offsets"]
    return f"{finding['topic']}-{finding['partition']} {first if first == last else f'{first}..{last}'}: "


def _events(finding: Mapping[str, Any]) -> str:
    return f"{events_text(convert(finding, FlowFinding))}: "


# How the counts of a verdict are shown, and the place of a finding: of a topic, its sentence has it.
_FORMS: Mapping[str, tuple[_CountLines, Callable[[Mapping[str, Any]], str]]] = {
    "topic": (_topic_lines, lambda _: ""),
    "group": (_group_lines, _offsets),
    "flow": (_flow_lines, _events),
}


def finding_count(verdict: Mapping[str, Any]) -> int:
    """Return the number of findings without the harmless ones, with those that the broker left out."""
    kinds = [finding["kind"] for finding in verdict["findings"]]
    are_all_listed = bool(kinds) and kinds[-1] in HARMLESS_KINDS
    left_out = 0 if are_all_listed else int(verdict.get("findings_left_out", 0))
    return sum(kind not in HARMLESS_KINDS for kind in kinds) + left_out


def indented(text: str, width: int) -> Iterator[str]:
    """Yield the lines of a text with an indent, deeper from the second line on."""
    return (_INDENT + line for line in wrap(text, width - len(_INDENT), subsequent_indent=_INDENT * 4))
