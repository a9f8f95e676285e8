"""What a model of consumers needs of a broker, and the parts of a verdict that the model knows as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fauxka.faults.consumption.group_verdict import GroupVerdict

from .consumer_place import Place

GROUP, TOPIC = "billing", "orders"

# Kind, cause, partition, offset; of a stale commit the offset is -1.
Truth = tuple[str, str, int, int]


@dataclass(eq=False)
class Consumer:
    """A consumer. joined, left: in changes of the group. instance: of a static member.

    name: the id of the member, which the broker gives with the first assignment. connection: each has a number.
    """

    name: str
    client_id: str
    connection: int
    joined: int
    instance: str | None = None
    left: int | None = None
    places: dict[int, Place] = field(default_factory=dict[int, Place])


class GroupBroker(Protocol):
    """Does what the model decides, so that the verdict on the group sees it.

    Partitions are named by their index. A consumer reads what the model's isolation level allows.
    """

    def append(self, index: int, count: int) -> None:
        """Append records."""
        ...

    def begin_transaction(self, index: int, count: int) -> None:
        """Append records of a transaction that stays open."""
        ...

    def end_transaction(self, index: int, *, is_commit: bool) -> None:
        """Append the marker of the open transaction."""
        ...

    def delete(self, index: int, start: int, end: int) -> None:
        """Delete the records from start to before end."""
        ...

    def stop_replicating(self, index: int) -> None:
        """Have the next records of a partition on its leader only."""
        ...

    def truncate(self, index: int, end: int) -> None:
        """Have an unclean election take back the records from end on."""
        ...

    def set_partitions(self, count: int, *, is_new: bool) -> None:
        """Add partitions. is_new: the topic is deleted and created again with them."""
        ...

    def assign(
        self, consumers: Sequence[Consumer], owners: Mapping[int, Consumer], *, is_new_generation: bool
    ) -> dict[int, Consumer]:
        """Give the partitions to their owners: new consumers join, and those that are missing leave.

        is_new_generation: False for a static member that takes the place of its former self.
        Return the owners, which a group of the consumer protocol may choose itself.
        """
        ...

    def ask_offsets(self, consumer: Consumer, index: int) -> None:
        """Have a consumer ask for the committed offset of a partition where it begins."""
        ...

    def fetch(self, consumer: Consumer, index: int, first: int, readable_end: int) -> int:
        """Send records from first on to a consumer, and return the offset after the last one."""
        ...

    def fetch_again(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        """Send the records of the last fetch again."""
        ...

    def lose_response(self, consumer: Consumer, index: int, first: int, readable_end: int) -> None:
        """Have a fetch whose records do not reach the consumer."""
        ...

    def begin_fetch(self, consumer: Consumer) -> None:
        """Have a consumer send a fetch that is not answered yet. An earlier one of that kind is dropped."""
        ...

    def end_fetch(self, consumer: Consumer, index: int, first: int, end: int) -> None:
        """Answer the fetch that was begun, with these records."""
        ...

    def fetch_out_of_range(self, consumer: Consumer, index: int, offset: int) -> None:
        """Have a fetch of an offset that the log does not have."""
        ...

    def commit(self, consumer: Consumer, index: int, offset: int, *, is_aborted: bool | None) -> None:
        """Commit an offset. is_aborted: how the transaction of the commit ends; None without one."""
        ...

    def commit_late(self, consumer: Consumer, index: int, offset: int) -> None:
        """Have a commit of a consumer that is no member any more, or of an earlier generation. It is refused."""
        ...

    def set_offset(self, index: int, offset: int) -> None:
        """Set the committed offset as an administrator."""
        ...

    def delete_offset(self, index: int) -> None:
        """Delete the committed offset."""
        ...

    def verdict(self) -> GroupVerdict:
        """Return the verdict on the group."""
        ...
