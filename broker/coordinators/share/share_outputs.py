"""Where a share partition writes its state, and what it reports of its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....faults.consumption.events import ShareChange
from ....protocol.stored_records.share_state_records import StateBatch


class ShareOutputs(NamedTuple):
    """What a share partition calls.

    write: with the start offset, the number of done records from there on, and the changed batches. Raises KafkaError.
    report: with what became of records, for the verdict on the group.
    """

    write: Callable[[int, int, tuple[StateBatch, ...]], None]
    report: Callable[[Sequence[ShareChange]], None]
