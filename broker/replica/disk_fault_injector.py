"""The Protocol between a node and the faults of its files, and the delay of responses by slow files.

The faults package wraps the node's file system. After each request the dispatcher checks whether a fault delays its
response; without an armed rule that is one test of an attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast, overload

from ..runtime.deferred import Deferred

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import FileSystem
    from ..runtime.clock import Clock
    from ..runtime.event_loop_bridge import EventLoopBridge


Result = TypeVar("Result")


class FileFaults(Protocol):
    """The injected faults of one node's files. All methods are for the event loop's thread.

    node_id: of the node, which sets it. is_armed: whether a rule for files is in force.
    is_late: whether the response to the current request is delayed.
    on_crash: crashes the node, and restarts it after a number of ms, or never for None.
    """

    node_id: int
    is_armed: bool
    is_late: bool
    on_crash: Callable[[int | None], None] | None

    def of_another_node(self, now_ms: Callable[[], int], bridge: EventLoopBridge, /) -> FileFaults:
        """Return the faults of another node's files, with the same rules."""
        ...

    def wrap(self, inner: FileSystem, /) -> FileSystem:
        """Return a file system that injects the faults into inner."""
        ...

    def take_delay_ms(self) -> int:
        """Return the delay of the current request's response in ms, and set it to 0."""
        ...

    def machine_stopped(self) -> None:
        """Drop what is not synced and refuse all access, because the node has stopped or crashed."""
        ...

    def machine_started(self) -> None:
        """Allow access again, because the node starts to load its logs."""
        ...


# Creates the faults of a node's files from its clock and its event loop.
MakeFileFaults = Callable[[Callable[[], int], "EventLoopBridge"], FileFaults]


class NoFileFaults:
    """The file faults of a node without rules for files."""

    is_late = False

    def take_delay_ms(self) -> int:
        """Return 0."""
        return 0


@overload
def delay_response(response: None, file_faults: FileFaults | NoFileFaults, clock: Clock) -> None: ...


@overload
def delay_response(
    response: Result | Deferred[Result], file_faults: FileFaults | NoFileFaults, clock: Clock
) -> Result | Deferred[Result]: ...


def delay_response(
    response: Result | Deferred[Result] | None, file_faults: FileFaults | NoFileFaults, clock: Clock
) -> Result | Deferred[Result] | None:
    """Return the response, delayed by the file faults of the current request. None, no response, is not delayed."""
    delay_ms = file_faults.take_delay_ms()
    if response is None or not delay_ms:
        return response
    if not isinstance(response, Deferred):
        late: Deferred[Result] = Deferred(is_applied=True)
        clock.call_later(delay_ms, lambda: late.complete(response))
        return late
    pending = cast("Deferred[Result]", response)
    late = Deferred[Result].following(cast("Deferred[object]", pending))
    # In sequence, because the pending work begins after the slow file access.
    pending.deliver_to(lambda later: _complete_after(late, later, clock, delay_ms), late.fail)
    return late


def _complete_after(late: Deferred[Result], response: Result, clock: Clock, delay_ms: int) -> None:
    clock.call_later(delay_ms, lambda: late.complete(response))
