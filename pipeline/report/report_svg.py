"""Pictures of an audit as inline SVG: stacked bars, and marks on lines. Each mark has a title.

The axis is time, or the offset if all marks are in so short a time that they would be one: timestamps of Kafka are
whole milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Literal

WIDTH = 960
_HEIGHT = 240
# The width of the line names, and the height of the axis labels.
_LEFT = 250
_MARGIN = 20
_ROW = 18
# In the SVG and not in the style sheet, so that a picture can be copied out of its page.
_FONT = 'font-family="system-ui, sans-serif" font-size="11" fill="#444"'
# The approximate width of a character.
_CHARACTER = 6.5
# The number of parts of the axis; even, because the middle has a label.
_TICKS = 4
# Makes a mark without length visible.
_MARK_WIDTH_MIN = 3.0
LINES_MAX = 40
# Distinguishable with red-green colour blindness. Further kinds share the last colour.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")

Axis = Literal["time", "offset"]
# A shorter time has too few milliseconds to tell marks apart.
TIME_MS_MIN = 10


def axis_for(first_ms: int, last_ms: int) -> Axis:
    """Return the axis for what happened in a time."""
    return "time" if last_ms - first_ms >= TIME_MS_MIN else "offset"


@dataclass(frozen=True, slots=True)
class Picture:
    """The name of a picture for screen readers, and its axis. counted: what its bars count."""

    name: str
    axis: Axis
    counted: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """The number of a cause in an interval of the axis."""

    first: int
    width: int
    cause: str
    count: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A range on a line. first, last: values of the axis. kind: determines the colour. words: the title."""

    line: str
    first: int
    last: int
    kind: str
    words: str


def bars(given: Sequence[Bar], picture: Picture) -> str:
    """Return bars stacked by place and cause; "" without any."""
    if not given:
        return ""
    first, end = min(bar.first for bar in given), max(bar.first + bar.width for bar in given)
    colours = _colours([bar.cause for bar in given])
    heights: dict[int, int] = {}
    for bar in given:
        heights[bar.first] = heights.get(bar.first, 0) + bar.count
    highest = max(heights.values())
    room = _HEIGHT - 3 * _MARGIN
    stacked: dict[int, int] = {}
    shapes: list[str] = []
    for bar in sorted(given, key=lambda one: (one.first, one.cause)):
        below = stacked.get(bar.first, 0)
        stacked[bar.first] = below + bar.count
        height = room * bar.count / highest
        top = _HEIGHT - _MARGIN - room * (below + bar.count) / highest
        left = _place(bar.first, first, end, _MARGIN)
        width = max(_place(bar.first + bar.width, first, end, _MARGIN) - left, _MARK_WIDTH_MIN)
        words = f"{_interval(bar, picture.axis)}: {bar.count} {bar.cause}"
        shapes.append(_rectangle(left, top, width, height, colours[bar.cause], words))
    # A label of an offset is inside of its own bar; times are the edges of bars.
    last = end - 1 if picture.axis == "offset" else end
    ends = _axis(first, last, picture.axis, _MARGIN, _HEIGHT)
    most = _label(_MARGIN, 2 * _MARGIN - 4, f"{highest} {picture.counted} at most")
    return _drawing(picture.name, _HEIGHT, [_legend(colours), most, ends, *shapes])


def _interval(bar: Bar, axis: Axis) -> str:
    if axis == "time" or bar.width == 1:
        return _at(bar.first, axis)
    return f"offsets {bar.first} to {bar.first + bar.width - 1}"


def timeline(given: Sequence[Mark], picture: Picture) -> str:
    """Return marks on their lines; "" without any. Shows the first LINES_MAX lines and the number of others."""
    if not given:
        return ""
    lines = list(dict.fromkeys(mark.line for mark in given))
    shown = lines[:LINES_MAX]
    marks = [mark for mark in given if mark.line in shown]
    first, end = min(mark.first for mark in marks), max(mark.last for mark in marks)
    colours = _colours([mark.kind for mark in marks])
    height = 3 * _MARGIN + _ROW * len(shown)
    shapes = [_label(_MARGIN, _top(number) + 12, line) for number, line in enumerate(shown)]
    for mark in marks:
        left = _place(mark.first, first, end, _LEFT)
        width = max(_place(mark.last, first, end, _LEFT) - left, _MARK_WIDTH_MIN)
        shapes.append(_rectangle(left, _top(shown.index(mark.line)), width, _ROW - 6, colours[mark.kind], mark.words))
    legend = _legend(colours) if len(colours) > 1 else ""
    drawn = _drawing(picture.name, height, [legend, _axis(first, end, picture.axis, _LEFT, height), *shapes])
    left_out = len(lines) - len(shown)
    return drawn + (f'<p class="none">{left_out} more lines are not shown.</p>' if left_out else "")


def _top(number: int) -> int:
    return int(1.5 * _MARGIN) + _ROW * number


def _colours(kinds: Sequence[str]) -> dict[str, str]:
    return {kind: _COLOURS[min(number, len(_COLOURS) - 1)] for number, kind in enumerate(sorted(set(kinds)))}


def _place(value: int, first: int, end: int, left: int) -> float:
    """Return the horizontal position of a value; the middle if the axis has only one value."""
    room = WIDTH - left - _MARGIN
    return left + (room * (value - first) / (end - first) if end > first else room / 2)


def _at(value: int, axis: Axis) -> str:
    return f"offset {value}" if axis == "offset" else text_of_time(value)


def text_of_time(at_ms: int) -> str:
    """Return a timestamp of a record as text."""
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        # A producer can write any 64-bit timestamp.
        return f"{at_ms} ms"


def _rectangle(left: float, top: float, width: float, height: float, colour: str, words: str) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}"><title>{escape(words)}</title></rect>'


def _label(left: float, top: float, words: str, anchor: str = "start") -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _axis(first: int, end: int, axis: Axis, left: int, height: int) -> str:
    """Return the labels of the axis, and grid lines above them."""
    bottom = height - 5
    if first == end:
        return _label(left + (WIDTH - left - _MARGIN) / 2, bottom, _at(first, axis), "middle")
    shapes = [_label(left, bottom, _at(first, axis)), _label(WIDTH - _MARGIN, bottom, _at(end, axis), "end")]
    for number in range(1, _TICKS):
        value = first + (end - first) * number // _TICKS
        if value == first:
            # Fewer values than ticks.
            continue
        place = _place(value, first, end, left)
        shapes.append(f'<line x1="{place:.1f}" y1="{_MARGIN}" x2="{place:.1f}" y2="{height - _MARGIN}" stroke="#ddd"/>')
        if number * 2 == _TICKS:
            shapes.append(_label(place, bottom, _at(value, axis), "middle"))
    return "".join(shapes)


def _legend(colours: dict[str, str]) -> str:
    shapes: list[str] = []
    left = float(_MARGIN)
    for kind, colour in colours.items():
        shapes += [_rectangle(left, 6, 10, 10, colour, kind), _label(left + 14, 15, kind)]
        left += 34 + _CHARACTER * len(kind)
    return "".join(shapes)


def _drawing(name: str, height: int, shapes: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(name)}" {_FONT}>'
    return f"{head}{''.join(shapes)}</svg>"
