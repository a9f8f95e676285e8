"""A broker for --instructions, whose counts do not depend on the machine's load: `python -m benchmarks.counted_broker`.

Under valgrind a request takes longer than the slice of a connection (connection_turns), so that the time on the clock,
and with it the load of the machine, would decide how many requests a turn handles and how many responses are written
together. Here a slice has as much time as it wants, and ends after its number of frames.
"""

from __future__ import annotations

from functools import partial

from fauxka.__main__ import main
from fauxka.broker.network import connection_turns, socket_server

# More than any load takes.
SLICE_NS = 3_600 * 10**9


if __name__ == "__main__":
    counted = partial(connection_turns.ConnectionTurns, slice_ns=SLICE_NS, turn_ns=SLICE_NS)
    socket_server.__dict__["ConnectionTurns"] = counted
    main()
