"""The interface of the group coordinators to their coordinator log."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ....protocol.batches.records import BatchOptions
    from ....protocol.error_codes import ErrorCode
    from ...runtime.deferred import Deferred
    from ..coordinator_log import ApplyRecord, CoordinatorRecord

R = TypeVar("R")


class GroupLog(Protocol):
    """The methods of CoordinatorLog that groups use. Tests implement them in memory."""

    def append(self, key_text: str, records: Sequence[CoordinatorRecord], options: BatchOptions = ...) -> int:
        """Append the records as one batch and return its base offset. Raises KafkaError."""
        ...

    def partition_index_of(self, key_text: str) -> int:
        """Return the index of the partition of a group id."""
        ...

    def when_durable(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """Return the response when all appended records are durable."""
        ...

    def replay(self, apply: ApplyRecord) -> None:
        """Call apply with every record of the log."""
        ...
