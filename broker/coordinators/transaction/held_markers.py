"""The transaction markers that a fault holds back.

A transaction whose markers are held stays in PREPARE_COMMIT or PREPARE_ABORT, as in Kafka while a WriteTxnMarkers has
no response. A hold is of one coordinator: after a crash, and on another node, a new coordinator reads the prepared
transaction from its log and writes the markers, as Kafka's does.
"""

from __future__ import annotations

from collections.abc import Callable


class HeldMarkers:
    """The transactional ids whose markers one coordinator does not write."""

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        """Hold nothing."""
        # The step that writes the markers; None until the outcome of the transaction is decided.
        self._steps: dict[str, Callable[[], None] | None] = {}

    def hold(self, transactional_id: str) -> bool:
        """Hold the markers of the id from now on. Return False if they are held already."""
        is_new = transactional_id not in self._steps
        self._steps.setdefault(transactional_id, None)
        return is_new

    def keep(self, transactional_id: str, write: Callable[[], None]) -> bool:
        """Keep the step that writes the markers for the release. Return False if they are not held."""
        is_held = transactional_id in self._steps
        if is_held:
            self._steps[transactional_id] = write
        return is_held

    def has_step(self, transactional_id: str) -> bool:
        """Return whether a transaction of the id waits for its markers."""
        return self._steps.get(transactional_id) is not None

    def release(self, transactional_id: str) -> None:
        """End the hold, and write the markers of a transaction that waits for them."""
        step = self._steps.pop(transactional_id, None)
        if step is not None:
            step()
