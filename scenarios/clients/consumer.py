"""The consumer interface of scenarios."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from .login import Login

DIVERGING_EPOCH = "DIVERGING_EPOCH"
OFFSET_OUT_OF_RANGE = "OFFSET_OUT_OF_RANGE"


@dataclass(frozen=True, slots=True)
class ConsumerOptions:
    """The options of a consumer.

    process: its name, which is its client id. group: None for a consumer without a group. note: adds a note of the
    process to the timeline. login: None for no authentication.
    """

    bootstrap_servers: str
    topic: str
    process: str
    group: str | None
    note: Callable[[str], None]
    login: Login | None = None


class ScenarioConsumer(Protocol):
    """A read_committed consumer of partition 0 that starts at its committed offset, or at the beginning.

    events: the names of the events that it has read, in order. resets: why it continued at another offset.
    """

    events: list[str]
    resets: list[str]

    def read_until(self, events: Collection[str]) -> None:
        """Read until all these events were seen. Raises ClientStuck."""
        ...

    def commit(self, offset: int | None = None) -> None:
        """Commit an offset, by default the one behind what was read; no effect without a group. Raises ClientStuck."""
        ...

    def read_error(self) -> str:
        """Read until an error, and return its name. Raises ClientStuck."""
        ...

    def kill(self) -> None:
        """Close the connections as a process that is killed: without leaving the group."""
        ...

    def close(self) -> None:
        """Leave the group, and close the connections; no effect on a closed consumer. Raises ClientStuck."""
        ...


MakeConsumer = Callable[[ConsumerOptions], ScenarioConsumer]
