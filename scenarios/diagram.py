"""Draws a timeline as a sequence diagram: the client's column on the left, the broker's on the right, plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from .cached_windows import Window
from .timeline import Moment

WIDTH = 100
_MARGIN = "  "
# Between the two columns.
_INNER = WIDTH - 2 * len(_MARGIN) - 2
# What the broker says to itself stands on its side.
_DECISION_WIDTH = 62
_ARROW_SHAFT_MIN = 8


def draw(moments: Sequence[Moment]) -> str:
    """Return the diagram."""
    lines = ["client".ljust(WIDTH - len("broker")) + "broker", _row("")]
    for moment in moments:
        lines.extend(_lines_of(moment))
    lines.append(_row(""))
    return "\n".join(line.rstrip() for line in lines)


def _lines_of(moment: Moment) -> Iterator[str]:
    match moment.kind:
        case "request":
            yield from _request(moment)
        case "answer":
            yield from _answer(moment)
        case "decision":
            yield from _decision(moment)
        case "note":
            yield from _note(moment)


def _request(moment: Moment) -> Iterator[str]:
    text = _cut(moment.text)
    if not moment.lost:
        yield _row(f"-- {text} ".ljust(_INNER - 1, "-") + ">")
        return
    shaft = f"-- {text} " + "- - - X"
    yield from _with_reason(shaft, moment.why_lost)


def _answer(moment: Moment) -> Iterator[str]:
    text = _cut(moment.text)
    if not moment.lost:
        yield _row("<" + f" {text} --".rjust(_INNER - 1, "-"))
        yield _row("")
        return
    reason = f"lost: {moment.why_lost} " if moment.why_lost else "lost "
    shaft = f"X - - - {text} --"
    if len(reason) + len(shaft) <= _INNER:
        yield _row((reason + shaft).rjust(_INNER))
    else:
        yield _row(shaft.rjust(_INNER))
        yield from (_row(line.rjust(_INNER)) for line in wrap(reason, _INNER))
    yield _row("")


def _with_reason(shaft: str, reason: str) -> Iterator[str]:
    lost = f" lost: {reason}" if reason else " lost"
    if len(shaft) + len(lost) <= _INNER:
        yield _row(shaft + lost)
    else:
        yield _row(shaft)
        yield from (_row("   " + line) for line in wrap(lost.strip(), _INNER - 3))
    yield _row("")


def _decision(moment: Moment) -> Iterator[str]:
    for line in wrap(moment.text, _DECISION_WIDTH):
        yield _row(f"{line} ".rjust(_INNER))
    if moment.cached is not None:
        for line in wrap(f"cached: {_in_words(moment.cached)}", _INNER - 4, break_on_hyphens=False):
            yield _row(f"{line} ".rjust(_INNER))


def _in_words(cached: Sequence[Window]) -> str:
    if not cached:
        return "nothing"
    # A name and its sequences stay on one line: the no-break spaces go when the line is there.
    return " | ".join(f"{window.name} {window.base_sequence}..{window.last_sequence}".strip() for window in cached)


def _note(moment: Moment) -> Iterator[str]:
    if moment.who == "client":
        yield from (_row(f" * {line}") for line in wrap(moment.text, _INNER - 4))
        return
    if moment.who == "broker":
        yield from (_row(f"{line} * ".rjust(_INNER)) for line in wrap(moment.text, _INNER - 4))
        return
    for line in wrap(moment.text, _INNER - 8):
        yield _row(f" {line} ".center(_INNER, "."))


def _cut(text: str) -> str:
    room = _INNER - _ARROW_SHAFT_MIN
    return text if len(text) <= room else text[: room - 3] + "..."


def _row(inner: str) -> str:
    return f"{_MARGIN}|{inner.ljust(_INNER)}|"
