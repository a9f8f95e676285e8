"""The result of an audit or a comparison as one self-contained HTML page: verdict, counts, findings and pictures.

Each cause of findings has its advice, a command that shows more, and its first examples.
The input is the JSON of an audit (audit_outputs.py), with the rows of report_pictures.py under "pictures". All text is
escaped, because it can come from a log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import cast

from .report_svg import Axis, Bar, Mark, Picture, axis_for, bars, text_of_time, timeline
from .summary import command_of, title_of

Json = Mapping[str, object]

_COUNTS = frozenset({"partitions", "batches", "records", "bytes", "producers", "findings", "known", "new"}) | {
    *("left", "right", "arrived"),
}
_AXES: dict[Axis, str] = {"time": "over time", "offset": "by offset"}
# The rows of the table of audited offsets.
_PLACES_MAX = 100

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:62rem;padding:0 1rem;color:#1a1a1a;background:#fff}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.25rem .6rem;border-bottom:1px solid #ddd;vertical-align:top}
.clean{color:#1b6e3c}.findings{color:#a3201d}svg{width:100%;height:auto;background:#fafafa;border:1px solid #ddd}
td.number,th.number{text-align:right;font-variant-numeric:tabular-nums}.none{color:#595959}
pre{background:#f3f3f3;border:1px solid #ddd;padding:.5rem .7rem;white-space:pre-wrap;overflow-wrap:anywhere}
"""


def report_page(summary: Json) -> str:
    """Return the HTML page. summary: from Summary.as_json."""
    verdict = _text(summary, "verdict")
    heading = f'<span class="{escape(verdict)}">{escape(verdict)}</span>'
    other = cast("str | None", summary.get("other"))
    pictures = cast(Json, summary.get("pictures") or {})
    parts = [
        f"<h1>{escape(title_of(_text(summary, 'log'), other))}: {heading}</h1>",
        *_range(summary),
        *(f"<p>Note: {escape(str(note))}</p>" for note in cast(Sequence[object], summary.get("notes") or ())),
        "<h2>Topics</h2>",
        _topics(summary),
        *_lateness(summary),
        "<h2>Findings</h2>",
        _findings(summary),
        *(_cause(group) for group in _rows(summary, "groups")),
        *(_pictures_of_comparison(pictures) if _is_comparison(summary) else _pictures_of_audit(pictures)),
    ]
    head = f'<meta charset="utf-8"><title>fauxka {command_of(other)}: {escape(verdict)}</title><style>{_STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body><main>{"".join(parts)}</main></body></html>\n'


def _is_comparison(summary: Json) -> bool:
    return summary.get("other") is not None


def _topics(summary: Json) -> str:
    if _is_comparison(summary):
        return _table(("topic", "left", "right", "arrived"), _rows(summary, "compared"))
    return _table(("topic", "partitions", "batches", "records", "bytes", "producers"), _rows(summary, "topics"))


def _pictures_of_audit(pictures: Json) -> list[str]:
    gaps = [_gap(row) for row in _rows(pictures, "gaps")]
    return [
        *_bars("Copies", "by cause", _rows(pictures, "copies")),
        "<h2>Gaps, by partition</h2>",
        timeline(gaps, Picture("Gaps, by partition", "offset")) or _none("No sequences are missing."),
        *_producers(_rows(pictures, "producers")),
    ]


def _pictures_of_comparison(pictures: Json) -> list[str]:
    return _bars("Findings", "by kind", _rows(pictures, "kinds"))


def _bars(counted: str, by: str, rows: Sequence[Json]) -> list[str]:
    """Return the stacked bars of rows that report_pictures has grouped by time or by offset."""
    axis = cast(Axis, rows[0]["axis"]) if rows else "time"
    name = f"{counted} {_AXES[axis]}, {by}"
    drawn = bars([_bar(row) for row in rows], Picture(name, axis, counted.lower()))
    return [f"<h2>{name}</h2>", *_short_time(axis, rows), drawn or _none(f"No {counted.lower()} with a time.")]


def _producers(rows: Sequence[Json]) -> list[str]:
    axis = axis_for(*_times(rows)) if rows else "time"
    name = f"Producers, {_AXES[axis]}"
    drawn = timeline([_span(row, axis) for row in rows], Picture(name, axis))
    return [f"<h2>{name}</h2>", *_short_time(axis, rows), drawn or _none("No producer has an id.")]


def _short_time(axis: Axis, rows: Sequence[Json]) -> list[str]:
    if axis == "time":
        return []
    first, last = _times(rows)
    when = f"at {text_of_time(first)}" if first == last else f"within {last - first} ms from {text_of_time(first)} on"
    return [f"<p>All are {escape(when)}, too short a time for an axis: the axis is the offset in the partition.</p>"]


def _times(rows: Sequence[Json]) -> tuple[int, int]:
    """Return the first and the last timestamp of rows, of which there is one at least."""
    return min(_number(row, "first_ms") for row in rows), max(_number(row, "last_ms") for row in rows)


def _range(summary: Json) -> list[str]:
    """Return the audited range in words, and the offsets of the first partitions as a table."""
    offsets = cast(Json, summary.get("range") or {})
    if offsets.get("words") is None:
        return []
    starts = cast(Mapping[str, Json], offsets["starts"])
    places = [
        {"topic": topic, "partition": int(partition), "from": starts[topic][partition], "up to": end}
        for topic, ends in cast(Mapping[str, Json], offsets["ends"]).items()
        for partition, end in ends.items()
    ]
    more = [f"<p>And {len(places) - _PLACES_MAX:,} more partitions.</p>"] if len(places) > _PLACES_MAX else []
    columns = ("topic", "partition", "from", "up to")
    words = f"<p>Only {escape(_text(offsets, 'words'))}, the end not included:</p>"
    return [words, _table(columns, places[:_PLACES_MAX]), *more]


def _lateness(summary: Json) -> list[str]:
    rows = _rows(summary, "lateness")
    columns = ("topic", "records", "median_ms", "p99_ms", "max_ms")
    return ["<h2>Lateness by event time</h2>", _table(columns, rows)] if rows else []


def _findings(summary: Json) -> str:
    columns = ("check", "kind", "cause", "findings", "records", "fault")
    groups = _with_words(_rows(summary, "groups"))
    comparison = cast("Json | None", summary.get("baseline"))
    if comparison is None:
        return _table(columns, groups)
    place = escape(_text(comparison, "place"))
    gone = f"<p>{_number(comparison, 'gone'):,} findings of the baseline {place} are gone.</p>"
    return _table((*columns, "known", "new"), [*map(_with_new, groups)]) + gone


def _with_new(group: Json) -> Json:
    return {**group, "new": _number(group, "findings") - _number(group, "known")}


def _bar(row: Json) -> Bar:
    return Bar(_number(row, "first"), _number(row, "width"), _text(row, "cause"), _number(row, "count"))


def _gap(row: Json) -> Mark:
    place = f"{_text(row, 'topic')}-{_number(row, 'partition')}"
    offset, missing = _number(row, "offset"), _number(row, "missing")
    return Mark(place, offset, offset, "gap", f"{place}: {missing} sequences missing before offset {offset}")


def _span(row: Json, axis: Axis) -> Mark:
    epoch = _number(row, "producer_epoch")
    place = f"producer {_number(row, 'producer_id')}, {_text(row, 'topic')}-{_number(row, 'partition')}"
    words = (
        f"{place}, epoch {epoch}: offsets {_number(row, 'first_offset')} to {_number(row, 'last_offset')}, "
        f"{_number(row, 'batches')} batches"
    )
    first, last = ("first_ms", "last_ms") if axis == "time" else ("first_offset", "last_offset")
    return Mark(place, _number(row, first), _number(row, last), f"epoch {epoch}", words)


def _cause(group: Json) -> str:
    """Return the part of the page for the findings of a kind and cause."""
    name = " ".join(escape(_text(group, part)) for part in ("check", "kind", "cause") if group.get(part) is not None)
    advice = "" if group.get("advice") is None else f"<p><b>Advice:</b> {escape(_text(group, 'advice'))}</p>"
    command = "" if group.get("command") is None else f"<pre><code>{escape(_text(group, 'command'))}</code></pre>"
    named = ("group_id",) if _text(group, "check") == "group" else ("producer_id", "producer_epoch", "event_id")
    columns = ("topic", "partition", "offset", "other_offset", *named, "detail")
    return f"<h3>{name}</h3>{advice}{command}{_table(columns, _rows(group, 'examples'))}"


def _table(columns: Sequence[str], rows: Sequence[Json]) -> str:
    if not rows:
        return _none("Nothing.")
    head = "".join(_heading(column, rows[0].get(column)) for column in columns)
    body = "".join(f"<tr>{''.join(_cell(column, row.get(column)) for column in columns)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _with_words(groups: Sequence[Json]) -> list[Json]:
    return [{**group, "fault": "yes" if group.get("is_fault", True) else "no"} for group in groups]


def _heading(column: str, value: object) -> str:
    """Return the heading of a column; value: of the first row, to align the headings of numbers."""
    kind = ' class="number"' if isinstance(value, int) else ""
    return f'<th scope="col"{kind}>{escape(column.replace("_", " "))}</th>'


def _cell(column: str, value: object) -> str:
    if isinstance(value, int):
        # Counts get separators. Offsets and ids do not, so that they can be copied.
        words = f"{value:,}".replace(",", "\N{NARROW NO-BREAK SPACE}") if column in _COUNTS else str(value)
        return f'<td class="number">{words}</td>'
    return f"<td>{escape('' if value is None else str(value))}</td>"


def _none(words: str) -> str:
    return f'<p class="none">{escape(words)}</p>'


def _rows(value: Json, name: str) -> list[Json]:
    rows = value.get(name, ())
    assert isinstance(rows, list | tuple), f"{name} are rows"
    return [cast(Json, row) for row in cast(Sequence[object], rows)]


def _text(value: Json, name: str) -> str:
    return str(value[name])


def _number(value: Json, name: str) -> int:
    number = value[name]
    assert isinstance(number, int), f"{name} is a number"
    return number
