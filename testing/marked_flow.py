"""The mark fauxka_flow: the report of a failed test has the verdict from one topic to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class Mark(Protocol):
    """A mark of a test, as pytest has it."""

    @property
    def args(self) -> Sequence[Any]:
        """The arguments by position."""
        ...

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """The arguments by name."""
        ...


class MarkedFlow(NamedTuple):
    """The arguments of a verdict from from_topic to to_topic; see Broker.verdict."""

    from_topic: str
    to_topic: str
    event_id: str
    group: str | None = None


def flow_of(mark: Mark) -> MarkedFlow:
    """Return the flow of a mark. Raises TypeError for other arguments."""
    return MarkedFlow(*mark.args, **mark.kwargs)
