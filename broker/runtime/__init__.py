"""What runs the broker: clock, event loop, threads, pending results, long work, log output. Knows nothing of Kafka.

- `clock.py` is the source of time for timeouts and expiries, and a test moves it. Only sockets and slices of long work
  have real time.
- The event loop has one thread, which alone changes the broker's state. `disk_executor.py` has the threads for what
  blocks, and `event_loop_bridge.py` brings calls of other threads to the loop.
- A handler that waits or works for long is a coroutine by the rules of `long_work.py`; it waits for a `Deferred`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...rare_parts import part_loader

if TYPE_CHECKING:
    from . import log_output as log_output
else:
    __getattr__ = part_loader(__name__)
