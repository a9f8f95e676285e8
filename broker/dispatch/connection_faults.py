"""Faults of fault rules on connections, at `accepted`, before a request is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...faults.actions import Close, Delay, Drip, Hang, Reset
from .fault_reports import ACCEPTED, misplaced

if TYPE_CHECKING:
    from ...faults.fault import Fault
    from ..requests.response_writer import ResponseWriter
    from ..runtime.clock import Clock


class ConnectionFaults:
    """Carries out faults on the connections of one node."""

    def __init__(self, clock: Clock) -> None:
        """clock: the clock of delayed connections."""
        self._clock = clock
        self._hanging: set[ResponseWriter] = set()

    def carry_out(self, connection: ResponseWriter, fault: Fault) -> None:
        """Carry out a fault for a new connection."""
        match fault.action:
            case Close():
                connection.close()
            case Reset():
                connection.reset()
            case Drip(bytes=piece_bytes, every_ms=every_ms):
                connection.slow_down(piece_bytes, every_ms)
            case Hang():
                connection.hang()
                self._hanging.add(connection)
            case Delay(ms=delay_ms):
                connection.hang()
                self._clock.call_later(delay_ms, connection.wake)
            case _:
                raise misplaced(fault, ACCEPTED)

    def closed(self, connection: ResponseWriter) -> None:
        """Forget a connection that is closed, perhaps by its client while it hangs."""
        self._hanging.discard(connection)

    def close_hanging(self) -> None:
        """Close the connections that hang."""
        hanging = list(self._hanging)
        self._hanging.clear()
        for connection in hanging:
            connection.close()
