"""What a regular expression consists of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Position(Enum):
    """What matches no character, but a place between two."""

    BEGIN = "begin"
    END = "end"
    WORD_BOUNDARY = "word boundary"
    NO_WORD_BOUNDARY = "no word boundary"


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    characters: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """One after the other; nothing where there are no parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part at least so many times, and at most so many where there is a most."""

    part: Node
    least: int
    most: int | None


Node = Characters | Position | Sequence | Alternatives | Repeat
