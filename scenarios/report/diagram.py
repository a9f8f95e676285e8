"""Draws a timeline as a sequence diagram in plain text: the processes on the left, the broker on the right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ...admin.client.text_width import WIDTH as WIDTH
from .cached_batches import CachedBatch
from .journal_requests import APPENDED
from .lanes import Lanes, lanes_of, wrapped
from .timeline import CLIENT, Moment

# Decisions are drawn on the broker's side.
_DECISION_WIDTH = 62
# Longer runs of successful exchanges are summarised.
_PLAIN_MAX = 8
_LOST = "- - - X"
_BETWEEN = " | "
_CACHED = re.compile(r" \(cached [^)]*\)")
_PRODUCER = re.compile(r"^producer \d+ epoch -?\d+: ")


def draw(moments: Sequence[Moment], width: int = WIDTH) -> str:
    """Return the diagram. width: the columns of its lines."""
    drawing = _Drawing(lanes_of(_processes(moments), width))
    lines = [*drawing.lanes.header(), drawing.lanes.row()]
    for run in _runs(moments):
        lines.extend(drawing.run_lines(run))
    return "\n".join(line.rstrip() for line in lines)


def _processes(moments: Sequence[Moment]) -> list[str]:
    """Return the processes in the order of their first requests and notes."""
    return list(dict.fromkeys(moment.process for moment in moments if moment.process)) or [CLIENT]


def _runs(moments: Sequence[Moment]) -> Iterator[list[list[Moment]]]:
    """Yield runs of consecutive plain exchanges of a process; any other exchange is a separate run."""
    run: list[list[Moment]] = []
    for exchange in _exchanges(moments):
        is_plain = _is_plain(exchange)
        if run and (not is_plain or exchange[0].process != run[0][0].process):
            yield run
            run = []
        if is_plain:
            run.append(exchange)
        else:
            yield [exchange]
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


class _Drawing:
    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes

    def run_lines(self, run: Sequence[Sequence[Moment]]) -> Iterator[str]:
        """Yield the lines of exchanges; of a long run only the first and the last."""
        shown = run if len(run) <= _PLAIN_MAX else [run[0], run[-1]]
        for number, exchange in enumerate(shown):
            if number == 1 and len(shown) < len(run):
                text = f"{len(run) - len(shown)} more batches, each appended and acknowledged"
                yield from self._lines_of(Moment(kind="note", who="test", text=text))
            for moment in exchange:
                yield from self._lines_of(moment)

    def _lines_of(self, moment: Moment) -> Iterator[str]:
        match moment.kind:
            case "request":
                yield from self._request(moment)
            case "answer":
                yield from self._answer(moment)
            case "decision":
                yield from self._decision(moment)
            case "note":
                yield from self._note(moment)

    def _request(self, moment: Moment) -> Iterator[str]:
        column, room = self._place_of(moment)
        # The last line of a long text is on the arrow.
        *before, last = wrapped(moment.text, room - len(f"--  {_LOST}"))
        yield from (self.lanes.row(f" {line}", after=column) for line in before)
        if not moment.lost:
            yield self.lanes.row(f"-- {last} ".ljust(room - 1, "-") + ">", after=column)
            return
        shaft = f"-- {last} {_LOST}"
        reason = f" lost: {moment.why_lost}" if moment.why_lost else " lost"
        if len(shaft) + len(reason) <= room:
            yield self.lanes.row(shaft + reason, after=column)
        else:
            yield self.lanes.row(shaft, after=column)
            yield from (self.lanes.row(f"   {line}", after=column) for line in wrapped(reason.strip(), room - 3))
        yield self.lanes.row()

    def _answer(self, moment: Moment) -> Iterator[str]:
        column, room = self._place_of(moment)
        *before, last = wrapped(moment.text, room - len(f"{_LOST}  --"))
        yield from self._at_broker(before)
        if not moment.lost:
            yield self.lanes.row("<" + f" {last} --".rjust(room - 1, "-"), after=column)
        else:
            shaft = f"{_LOST[::-1]} {last} --"
            reason = f"lost: {moment.why_lost} " if moment.why_lost else "lost "
            if len(reason) + len(shaft) <= self.lanes.broker_room:
                yield self.lanes.row(reason + shaft)
            else:
                yield self.lanes.row(shaft)
                yield from self._at_broker(wrapped(reason.strip(), self.lanes.broker_room - 2))
        yield self.lanes.row()

    def _decision(self, moment: Moment) -> Iterator[str]:
        # Producer and cached batches are left out: they are in the lines above and below.
        text = _PRODUCER.sub("", moment.text)
        if moment.cached is not None:
            text = _CACHED.sub("", text)
        yield from self._at_broker(wrapped(text, min(_DECISION_WIDTH, self.lanes.broker_room - 1)))
        if moment.cached is not None:
            yield from self._cached(moment.cached)

    def _note(self, moment: Moment) -> Iterator[str]:
        if moment.who == "client":
            column, room = self._place_of(moment)
            yield from (self.lanes.row(f" * {line}", after=column) for line in wrapped(moment.text, room - 4))
        elif moment.who == "broker":
            for line in wrapped(moment.text, self.lanes.broker_room - 4):
                yield self.lanes.row(f"{line} * ")
            if moment.cached is not None:
                yield from self._cached(moment.cached)
        else:
            column, room = self.lanes.names[0][0], self.lanes.broker_column - self.lanes.names[0][0] - 1
            for line in wrapped(moment.text, room - 8):
                yield self.lanes.row(f" {line} ".center(room, "."), after=column)

    def _place_of(self, moment: Moment) -> tuple[int, int]:
        """Return the column of the moment's process, and the columns between it and the broker."""
        process = moment.process if moment.process in self.lanes.columns else self.lanes.names[0][1]
        return self.lanes.columns[process], self.lanes.room_of(process)

    def _cached(self, cached: Sequence[CachedBatch]) -> Iterator[str]:
        return self._at_broker(_cached_lines(cached, self.lanes.broker_room - 2))

    def _at_broker(self, lines: Iterable[str]) -> Iterator[str]:
        return (self.lanes.row(f"{line} ") for line in lines)


def _cached_lines(cached: Sequence[CachedBatch], room: int) -> Iterator[str]:
    """Yield the cached batches, each on one line with its name if it fits."""
    batches = [f"{batch.name} {batch.base_sequence}..{batch.last_sequence}".strip() for batch in cached]
    line = f"cached: {batches[0]}" if batches else "cached: nothing"
    for batch in batches[1:]:
        if len(line) + len(_BETWEEN) + len(batch) > room:
            yield from wrapped(line, room)
            line = batch
        else:
            line += _BETWEEN + batch
    yield from wrapped(line, room)
