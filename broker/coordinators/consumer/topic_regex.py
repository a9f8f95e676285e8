"""Regular expressions of RE2 that topic names are matched with, in time that grows with the name alone.

An expression becomes a program whose states are followed all at once; which states follow which is remembered, so that
a name costs a look-up a character. Python's own expressions would do for most, but some of them never end.
Source: Compiler and Machine of RE2/J 1.8, which Kafka 4.3.0 matches with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from .regex_characters import is_word
from .regex_syntax import InvalidRegexError, parse_regex
from .regex_tree import Alternatives, Characters, Node, Position, Repeat, Sequence

__all__ = ["InvalidRegexError", "TopicRegex"]

# Counts multiply ({1000} within {1000}); RE2/J takes the memory, and the time. What people write has a hundred steps.
STEPS_MAX = 5_000
TOO_LARGE = "expression too large"

# How many states the remembered places have in all; forgotten all at once, as they are quickly found again.
STATES_MAX = 200_000


class _Before(Enum):
    """What stands before a place in a name."""

    NOTHING = 0
    WORD = 1
    OTHER = 2


@dataclass(slots=True)
class _Step:
    """One step of a program: take a character of a set, or be at a position, or neither, and go on at any of next.

    The last one, without next, is where a name has matched.
    """

    characters: int | None
    position: Position | None
    next: list[int]


@dataclass(slots=True, eq=False)
class _Place:
    """How far a name has matched: all states that the program may be in; after: the places behind a character."""

    states: frozenset[int]
    before: _Before
    after: dict[str, _Place] = field(default_factory=dict[str, "_Place"])
    # Whether a name may end here; None: not asked yet.
    is_end: bool | None = None


class TopicRegex:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        """Compile the expression; raises InvalidRegexError."""
        self._steps: list[_Step] = []
        self._end = self._add(_Step(None, None, []))
        self._start = self._compile(parse_regex(text), self._end)
        self._places: dict[tuple[frozenset[int], _Before], _Place] = {}
        self._state_count = 0

    def matches(self, name: str) -> bool:
        """Whether the whole name matches."""
        place = self._place(frozenset({self._start}), _Before.NOTHING)
        for character in name:
            place = place.after.get(character) or self._step(place, character)
        return self._is_end(place)

    # -- matching

    def _place(self, states: frozenset[int], before: _Before) -> _Place:
        place = self._places.get((states, before))
        if place is None:
            self._state_count += len(states)
            if self._state_count > STATES_MAX:
                self._places.clear()
                self._state_count = len(states)
            place = self._places[states, before] = _Place(states, before)
        return place

    def _step(self, place: _Place, character: str) -> _Place:
        """Return the place behind a character, and remember it."""
        code = ord(character)
        states = self._take(self._reached(place.states, place.before, character), code)
        after = self._place(states, _Before.WORD if is_word(code) else _Before.OTHER)
        place.after[character] = after
        return after

    def _is_end(self, place: _Place) -> bool:
        if place.is_end is None:
            place.is_end = self._end in self._reached(place.states, place.before, None)
        return place.is_end

    def _take(self, states: Iterable[int], code: int) -> frozenset[int]:
        steps = (self._steps[state] for state in states)
        return frozenset(
            state
            for step in steps
            if step.characters is not None and step.characters >> code & 1
            for state in step.next
        )

    def _reached(self, states: Iterable[int], before: _Before, character: str | None) -> set[int]:
        """Return the states that are reached without a character; character: the next one, None at the end."""
        reached, open_states = set[int](), list(states)
        while open_states:
            state = open_states.pop()
            if state in reached:
                continue
            reached.add(state)
            step = self._steps[state]
            if step.characters is None and (step.position is None or _is_at(step.position, before, character)):
                open_states += step.next
        return reached

    # -- compiling, from the end to the beginning

    def _add(self, step: _Step) -> int:
        if len(self._steps) >= STEPS_MAX:
            raise InvalidRegexError(TOO_LARGE)
        self._steps.append(step)
        return len(self._steps) - 1

    def _compile(self, node: Node, following: int) -> int:
        """Return the state in which the node begins that goes on at following."""
        match node:
            case Characters(characters):
                return self._add(_Step(characters, None, [following]))
            case Position():
                return self._add(_Step(None, node, [following]))
            case Sequence(parts):
                for part in reversed(parts):
                    following = self._compile(part, following)
                return following
            case Alternatives(parts):
                return self._add(_Step(None, None, [self._compile(part, following) for part in parts]))
            case Repeat():
                return self._compile_repeat(node, following)

    def _compile_repeat(self, repeat: Repeat, following: int) -> int:
        if repeat.most is None:
            loop = self._add(_Step(None, None, [following]))
            self._steps[loop].next.append(self._compile(repeat.part, loop))
            state = loop
        else:
            state = following
            for _ in range(repeat.most - repeat.least):
                state = self._add(_Step(None, None, [following, self._compile(repeat.part, state)]))
        for _ in range(repeat.least):
            state = self._compile(repeat.part, state)
        return state


def _is_at(position: Position, before: _Before, character: str | None) -> bool:
    match position:
        case Position.BEGIN:
            return before is _Before.NOTHING
        case Position.END:
            return character is None
        case Position.WORD_BOUNDARY | Position.NO_WORD_BOUNDARY:
            is_boundary = (before is _Before.WORD) != (character is not None and is_word(ord(character)))
            return is_boundary is (position is Position.WORD_BOUNDARY)
