"""The verdict of an audit or a comparison as text for a terminal: totals, a table of findings, first examples."""

from __future__ import annotations

from collections.abc import Sequence

from .summary import AuditedOffsets, EventTotals, Example, FindingGroup, Summary, TopicLateness

# Few enough to read; the JSON has all of them.
PLACES_MAX = 5
NOTES_MAX = 10

_HEADINGS = ("check", "found", "cause", "findings", "records")


def verdict_text(summary: Summary) -> str:
    """Return the text of a verdict."""
    faults = [group for group in summary.groups if group.is_fault]
    has_known = summary.baseline is not None
    harmless = [group for group in summary.groups if not group.is_fault]
    lines = [f"{summary.title}: {', '.join(summary.checks)}", *_range(summary.range), *_notes(summary)]
    lines += _totals(summary)
    word = summary.id_word
    if faults:
        lines += ["", *_table(faults, has_known), *_examples(faults, word)]
    if harmless:
        lines += ["", "Findings that are not faults:", *_table(harmless, has_known), *_examples(harmless, word)]
    return "\n".join([*lines, "", last_line(summary)])


def _range(offsets: AuditedOffsets) -> list[str]:
    if offsets.words is None:
        return []
    places: list[str] = []
    for topic, ends in offsets.ends.items():
        for partition, end in ends.items():
            start = offsets.starts[topic][partition]
            words = f"offsets {start} to {end - 1}" if end > start else "nothing"
            places.append(f"{words} of {topic}-{partition}")
    more = [f"{_number(len(places) - PLACES_MAX)} more"] if len(places) > PLACES_MAX else []
    return [f"  {offsets.words}: {', '.join([*places[:PLACES_MAX], *more])}"]


def _notes(summary: Summary) -> list[str]:
    more = [f"{_number(len(summary.notes) - NOTES_MAX)} more notes"] if len(summary.notes) > NOTES_MAX else []
    return [f"  note: {note}" for note in (*summary.notes[:NOTES_MAX], *more)]


def _totals(summary: Summary) -> list[str]:
    events = {totals.topic: totals for totals in summary.events}
    lateness = {one.topic: one for one in summary.lateness}
    lines: list[str] = []
    for topic in summary.topics:
        damaged = f", and {_many(topic.damaged_batches, 'damaged batch')}" if topic.damaged_batches else ""
        lines.append(
            f"  {topic.topic}: {_many(topic.records, 'record')} in {_many(topic.batches, 'batch')} of "
            f"{_many(topic.partitions, 'partition')}, from {_many(topic.producers, 'producer')} with an id{damaged}"
        )
        if topic.topic in events:
            lines.append(f"    {_events(events[topic.topic])}")
        if topic.topic in lateness:
            lines.append(f"    {_lateness(lateness[topic.topic])}")
    for compared in summary.compared:
        sides = f"{_many(compared.left, 'record')} on the left side, {_number(compared.right)} on the right side"
        lines.append(f"  {compared.topic}: {sides}, {_number(compared.arrived)} arrived")
    return lines or ["  no records"]


def _events(totals: EventTotals) -> str:
    words = f"{_many(totals.ids, 'event id')} in {_many(totals.with_id, 'committed record')}"
    if totals.without_id:
        words += f", {_number(totals.without_id)} without one"
    kinds = ((totals.empty_ids, "empty"), (totals.undecodable, "cannot be decoded"))
    reasons = ", ".join(f"{_number(count)} {kind}" for count, kind in kinds if count)
    return f"{words} ({reasons})" if reasons else words


def _lateness(late: TopicLateness) -> str:
    return (
        f"{_many(late.records, 'record')} with an event time, late by {_number(late.median_ms)} ms in the median, "
        f"{_number(late.p99_ms)} ms at the 99th percentile, {_number(late.max_ms)} ms at most"
    )


def last_line(summary: Summary) -> str:
    """Return the last line of a verdict: the findings by kind and cause."""
    faults = [group for group in summary.groups if group.is_fault]
    gone = "" if summary.baseline is None else f"; {_number(summary.baseline.gone)} of the baseline are gone"
    if summary.deleted:
        in_part = {(one.topic, one.partition) for one in summary.deleted}
        gone += f"; {_many(len(in_part), 'partition')} judged in part"
    failing = [group for group in summary.groups if summary.fails(group)]
    told = faults if summary.fail_on is None else [group for group in summary.groups if group in (*faults, *failing)]
    if not told:
        return f"Verdict: clean{'' if summary.topic_names else ', but there are no records'}{gone}"
    words = f"Verdict: {_many(sum(group.findings for group in told), 'finding')}"
    if summary.baseline is not None:
        words += (
            f", {_number(sum(group.known for group in told))} known, {_number(sum(group.new for group in told))} new"
        )
    kinds = ", ".join(f"{_number(group.new)} {_name(group)}" for group in told if group.new)
    words += f": {kinds}" if kinds else ""
    others = sum(group.new for group in told if not summary.fails(group))
    if others:
        words += f"; {_number(others)} of a kind that --fail-on leaves out"
    return words + gone


def _name(group: FindingGroup) -> str:
    name = group.kind.replace("_", " ")
    return f"{name} ({group.cause.replace('_', ' ')})" if group.cause else name


def _table(groups: Sequence[FindingGroup], has_known: bool) -> list[str]:
    rows = [
        (group.check, group.kind, group.cause or "-", _number(group.findings), _number(group.records))
        + ((_number(group.known),) if has_known else ())
        for group in groups
    ]
    headings = (*_HEADINGS, "known") if has_known else _HEADINGS
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    return [
        _row(headings, widths),
        _row(["-" * width for width in widths], widths),
        *(_row(row, widths) for row in rows),
    ]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    words = [cell.ljust(width) for cell, width in zip(cells[:3], widths[:3], strict=True)]
    numbers = [cell.rjust(width) for cell, width in zip(cells[3:], widths[3:], strict=True)]
    return "  ".join([*words, *numbers]).rstrip()


def _examples(groups: Sequence[FindingGroup], id_word: str) -> list[str]:
    lines: list[str] = []
    for group in groups:
        # A user has seen the known ones.
        shown = [example for example in group.examples if not example.is_known]
        if not shown:
            continue
        is_all = len(shown) == group.new
        if group.known:
            which = "all new ones" if is_all else f"the first {len(shown)} of {_number(group.new)} new ones"
        else:
            which = "all" if is_all else f"the first {len(shown)}"
        lines += ["", f"{_name(group)}, {which}:", *(f"  {example_text(example, id_word)}" for example in shown)]
        if group.is_fault:
            lines.append(f"  advice: {group.advice}")
    return lines


def example_text(example: Example, id_word: str = "event") -> str:
    """Return the place, the event or the group, and the detail of a finding as one line. id_word: what event_id is."""
    place = example.topic or "unknown place"
    if example.partition is not None:
        place += f"-{example.partition}"
    if example.offset is not None:
        place += f" offset {example.offset}"
    event = "" if example.event_id is None else f" {id_word} {example.event_id}"
    group = "" if example.group_id is None else f" group {example.group_id}"
    return _printable(f"{place}{event}{group}: {example.detail}")


def _printable(text: str) -> str:
    """Return text with an escape such as \\x1b for each character that a terminal would obey."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def _many(number: int, noun: str) -> str:
    plural = f"{noun}es" if noun.endswith("ch") else f"{noun}s"
    return f"{_number(number)} {noun if number == 1 else plural}"


def _number(number: int) -> str:
    return f"{number:,}"
