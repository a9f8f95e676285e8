"""Draws a timeline as a sequence diagram in plain text: the client on the left, the broker on the right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from .cached_batches import CachedBatch
from .journal_requests import APPENDED
from .timeline import Moment

WIDTH = 100
_MARGIN = "  "
# Between the two columns.
_INNER = WIDTH - 2 * len(_MARGIN) - 2
# Decisions are drawn on the broker's side.
_DECISION_WIDTH = 62
_ARROW_SHAFT_MIN = len("--  - - - X")
# Longer runs of successful exchanges are summarised.
_PLAIN_MAX = 8
_BETWEEN = " | "
_CACHED = re.compile(r" \(cached [^)]*\)")
_PRODUCER = re.compile(r"^producer \d+ epoch -?\d+: ")


def draw(moments: Sequence[Moment]) -> str:
    """Return the diagram."""
    lines = ["client".ljust(WIDTH - len("broker")) + "broker", _row("")]
    for run in _runs(moments):
        lines.extend(_run_lines(run))
    return "\n".join(line.rstrip() for line in lines)


def _runs(moments: Sequence[Moment]) -> Iterator[list[list[Moment]]]:
    """Yield runs of consecutive plain exchanges; any other exchange is a separate run."""
    run: list[list[Moment]] = []
    for exchange in _exchanges(moments):
        if not _is_plain(exchange):
            if run:
                yield run
            yield [exchange]
            run = []
        else:
            run.append(exchange)
    if run:
        yield run


def _exchanges(moments: Sequence[Moment]) -> Iterator[list[Moment]]:
    """Yield the consecutive moments of one request, and each note."""
    exchange: list[Moment] = []
    for moment in moments:
        if exchange and (moment.request is None or moment.request != exchange[-1].request):
            yield exchange
            exchange = []
        exchange.append(moment)
    if exchange:
        yield exchange


def _is_plain(exchange: Sequence[Moment]) -> bool:
    """Whether the request's batch was appended and acknowledged."""
    kinds = [moment.kind for moment in exchange]
    return kinds == ["request", "decision", "answer"] and exchange[1].decision == APPENDED and not exchange[2].lost


def _run_lines(run: Sequence[Sequence[Moment]]) -> Iterator[str]:
    """Yield the lines of exchanges; of a long run only the first and the last."""
    shown = run if len(run) <= _PLAIN_MAX else [run[0], run[-1]]
    for number, exchange in enumerate(shown):
        if number == 1 and len(shown) < len(run):
            text = f"{len(run) - len(shown)} more batches, each appended and acknowledged"
            yield from _lines_of(Moment(kind="note", who="test", text=text))
        for moment in exchange:
            yield from _lines_of(moment)


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
    # Producer and cached batches are left out: they are in the lines above and below.
    text = _PRODUCER.sub("", moment.text)
    if moment.cached is not None:
        text = _CACHED.sub("", text)
    yield from _on_the_right(wrap(text, _DECISION_WIDTH, break_on_hyphens=False))
    if moment.cached is not None:
        yield from _on_the_right(_cached_lines(moment.cached))


def _on_the_right(lines: Iterable[str]) -> Iterator[str]:
    return (_row(f"{line} ".rjust(_INNER)) for line in lines)


def _cached_lines(cached: Sequence[CachedBatch]) -> Iterator[str]:
    """Yield the cached batches, each on one line with its name."""
    batches = [f"{batch.name} {batch.base_sequence}..{batch.last_sequence}".strip() for batch in cached]
    line = f"cached: {batches[0]}" if batches else "cached: nothing"
    for batch in batches[1:]:
        if len(line) + len(batch) + len(_BETWEEN) > _INNER - 2:
            yield line
            line = batch
        else:
            line += _BETWEEN + batch
    yield line


def _note(moment: Moment) -> Iterator[str]:
    if moment.who == "client":
        yield from (_row(f" * {line}") for line in wrap(moment.text, _INNER - 4))
        return
    if moment.who == "broker":
        yield from (_row(f"{line} * ".rjust(_INNER)) for line in wrap(moment.text, _INNER - 4))
        if moment.cached is not None:
            yield from _on_the_right(_cached_lines(moment.cached))
        return
    for line in wrap(moment.text, _INNER - 8):
        yield _row(f" {line} ".center(_INNER, "."))


def _cut(text: str) -> str:
    room = _INNER - _ARROW_SHAFT_MIN
    return text if len(text) <= room else text[: room - 3] + "..."


def _row(inner: str) -> str:
    return f"{_MARGIN}|{inner.ljust(_INNER)}|"
