"""The lanes of a sequence diagram: one for each process on the left, and the broker's on the right edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

BROKER = "broker"

_MARGIN = 2
# The columns to the right of the last lane: enough for a decision without a line break at every second word.
_ROOM_MIN = 40
# Between two lanes: enough for the `|` of one and a space.
_STEP_MIN = 3
_LINE = "|"
# Processes for which the width has no lane of their own share the last lane.
_OTHERS = "other processes"


@dataclass(frozen=True, slots=True)
class Lanes:
    """The columns of a diagram. columns: of each process; several may share one. names: of the lanes, left to right."""

    width: int
    columns: dict[str, int]
    names: tuple[tuple[int, str], ...]

    @property
    def broker_column(self) -> int:
        """The column of the broker's lane."""
        return self.width - 1 - _MARGIN

    @property
    def last_column(self) -> int:
        """The column of the last process."""
        return self.names[-1][0]

    def room_of(self, process: str) -> int:
        """Return the columns between the lane of a process and that of the broker."""
        return self.broker_column - self.columns[process] - 1

    @property
    def broker_room(self) -> int:
        """The columns between the last process and the broker."""
        return self.broker_column - self.last_column - 1

    def header(self) -> Iterator[str]:
        """Yield the names above their lanes: in one line, or a line for each if they do not fit next to each other."""
        starts = [max(column - _MARGIN, 0) for column, _ in self.names]
        ends = [*starts[1:], self.width - len(BROKER)]
        if all(start + len(name) < end for start, (_, name), end in zip(starts, self.names, ends, strict=True)):
            line = " " * self.width
            for start, (_, name) in zip(starts, self.names, strict=True):
                line = _put(line, start, name)
            yield _put(line, self.width - len(BROKER), BROKER)
            return
        for number, (column, name) in enumerate(self.names):
            line = " " * self.width
            for before, _ in self.names[:number]:
                line = _put(line, before, _LINE)
            if number == len(self.names) - 1:
                line = _put(line, self.width - len(BROKER), BROKER)
            room = self.width - len(BROKER) - 1 - column
            yield _put(line, column, name[:room])

    def row(self, text: str = "", *, after: int | None = None) -> str:
        """Return a line with all lanes. text: drawn over them from the column behind `after`, or up to the broker."""
        line = " " * self.width
        for column in (*self.columns.values(), self.broker_column):
            line = _put(line, column, _LINE)
        return _put(line, self.broker_column - len(text) if after is None else after + 1, text)


def lanes_of(processes: Sequence[str], width: int) -> Lanes:
    """Return the lanes of the processes, in their order."""
    most = max(1, (width - 1 - 2 * _MARGIN - _ROOM_MIN) // _STEP_MIN + 1)
    names = list(processes) if len(processes) <= most else [*processes[: most - 1], _OTHERS]
    longest = max(map(len, names))
    room = width - 1 - 2 * _MARGIN - _ROOM_MIN
    step = min(longest + 2, room // (len(names) - 1)) if len(names) > 1 else 0
    columns = {name: _MARGIN + number * step for number, name in enumerate(names)}
    named = tuple((column, name) for name, column in columns.items())
    shared = columns[names[-1]]
    return Lanes(width, {process: columns.get(process, shared) for process in processes}, named)


def wrapped(text: str, room: int) -> list[str]:
    """Return the lines of a text that fit into a number of columns; at least one, and empty for an empty text."""
    return wrap(text, max(room, 1), break_on_hyphens=False) or [""]


def _put(line: str, column: int, text: str) -> str:
    return line[:column] + text + line[column + len(text) :]
