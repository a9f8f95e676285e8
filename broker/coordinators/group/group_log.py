"""What the group coordinator asks of the topic that it keeps its state in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ....protocol.batches.records import BatchOptions
    from ....protocol.error_codes import ErrorCode
    from ...runtime.deferred import Deferred
    from ..coordinator_log import ApplyRecord, StateRecord

R = TypeVar("R")


class GroupLog(Protocol):
    """StateLog, as far as groups need it."""

    def append(self, key_text: str, records: Sequence[StateRecord], options: BatchOptions = ...) -> int:
        """See StateLog.append."""
        ...

    def partition_index_of(self, key_text: str) -> int:
        """See StateLog.partition_index_of."""
        ...

    def settled(self, response: R, refused: Callable[[ErrorCode], R]) -> R | Deferred[R]:
        """See StateLog.settled."""
        ...

    def replay(self, apply: ApplyRecord) -> None:
        """See StateLog.replay."""
        ...
