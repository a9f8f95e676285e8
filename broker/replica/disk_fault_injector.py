"""What the broker asks of those who make files go wrong, and the wait for files that are slow on purpose.

The broker knows no rules: its files are wrapped where it is made, and it asks after each request whether they were
slow. Without a rule in force that costs one test of an attribute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ..runtime.deferred import Buffers, Deferred

if TYPE_CHECKING:
    from ...storage.file_systems.file_system import FileSystem
    from ..runtime.clock import Clock
    from ..runtime.event_loop_bridge import EventLoopBridge


class FileFaults(Protocol):
    """What goes wrong with the files of one node; all of it is for the event loop's thread.

    is_armed: whether anything may go wrong. is_late: whether files were slow for the request in hand.
    on_crash: has the node stopped at once, to be started again after so many ms, None for never.
    """

    is_armed: bool
    is_late: bool
    on_crash: Callable[[int | None], None] | None

    def wrap(self, inner: FileSystem, /) -> FileSystem:
        """Return the files of inner as they are to be used."""
        ...

    def take_delay_ms(self) -> int:
        """Return how long the answer to the request in hand waits for slow files; 0 when it is asked again."""
        ...

    def machine_stopped(self) -> None:
        """The node has stopped or crashed: leave in the files what is on the disk, and let nobody use them."""
        ...

    def machine_started(self) -> None:
        """The node begins to load its logs: the files may be used again."""
        ...


# Makes the faults of a node, by its clock and for its event loop's thread.
MakeFileFaults = Callable[[Callable[[], int], "EventLoopBridge"], FileFaults]


class NoFileFaults:
    """The faults of a node whose files do what they are asked for."""

    is_late = False

    def take_delay_ms(self) -> int:
        """Return 0: files are never slow."""
        return 0


def delay_response(
    answer: Buffers | Deferred[Buffers] | None, file_faults: FileFaults | NoFileFaults, clock: Clock
) -> Buffers | Deferred[Buffers] | None:
    """Return the response, delayed by as long as files were slow for the current request."""
    delay_ms = file_faults.take_delay_ms()
    if answer is None or not delay_ms:
        return answer
    if not isinstance(answer, Deferred):
        late: Deferred[Buffers] = Deferred(is_applied=True)
        clock.call_later(delay_ms, lambda: late.complete(answer))
        return late
    late = Deferred(answer.abandon, is_applied=answer.is_applied, is_in_order=answer.is_in_order)
    # One after the other: what it waits for is done after what was slow.
    answer.deliver_to(lambda buffers: _complete_after(late, buffers, clock, delay_ms))
    return late


def _complete_after(late: Deferred[Buffers], buffers: Buffers, clock: Clock, delay_ms: int) -> None:
    clock.call_later(delay_ms, lambda: late.complete(buffers))
