"""The members of a modelled group: they join, leave, restart and lose their place, and partitions move between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from .consumer_place import Place
from .group_broker import Consumer, GroupBroker

CONSUMERS_MAX = 3
PROTOCOLS = ("classic", "consumer", "streams", "none")
# The coordinator assigns the partitions, and its clients name topics by ids.
ASSIGNED_BY_COORDINATOR = ("consumer", "streams")


@dataclass
class Delivered:
    """The last delivery of one offset."""

    by: Consumer
    is_committed: bool = False
    # By a Fetch from before a rebalance.
    is_late: bool = False


@dataclass
class Partition:
    """The log of a partition, and what the group did with each offset.

    open_since, open_records: the first offset of an open transaction, and all of its records.
    without_record: offsets of markers, and of aborted records if the group reads committed records only.
    position: where its last receiver is, until the partition is assigned again.
    is_late: it was added while the group consumed the topic. begun_at: the committed offset when it was assigned last.
    """

    start: int = 0
    end: int = 0
    open_since: int | None = None
    open_records: set[int] = field(default_factory=set[int])
    committed: int | None = None
    has_lost_commit: bool = False
    taken_back: str = "commit_moved_back"
    is_late: bool = False
    begun_at: int | None = None
    position: int | None = None
    delivered: dict[int, Delivered] = field(default_factory=dict[int, Delivered])
    passed: dict[int, str] = field(default_factory=dict[int, str])
    without_record: set[int] = field(default_factory=set[int])

    @property
    def delivered_end(self) -> int | None:
        return max(self.delivered) + 1 if self.delivered else None

    @property
    def stable_end(self) -> int:
        return self.end if self.open_since is None else self.open_since


class GroupMembers:
    """The members, and which of them has each partition.

    protocol: "classic"; "consumer" (KIP-848) or "streams" (KIP-1071), where only the partitions that move begin anew;
    or "none" for consumers that take partitions by themselves and commit without being members.
    """

    broker: GroupBroker
    protocols: tuple[str, ...] = PROTOCOLS

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.protocol = self.random.choice(self.protocols)
        self.reads_committed = self.random.random() < 0.5
        self.partitions = [Partition() for _ in range(self.random.choice([1, 2, 3]))]
        self.has_one_client_id = self.random.random() < 0.3
        self.is_static = self.protocol != "none" and self.random.random() < 0.3
        self.consumers: list[Consumer] = []
        self.owners: dict[int, Consumer] = {}
        self.former: list[Consumer] = []
        # Clients without a group that have committed once, so that their fetches are counted.
        self.linked: set[str] = set()
        self.turn = self.clients = self.connections = 0

    def join(self) -> None:
        if len(self.consumers) < CONSUMERS_MAX:
            self.consumers.append(self._new_consumer())
            self.rebalance()

    def crash(self) -> None:
        """A consumer is gone, without a commit."""
        if self.consumers:
            self._remove(self.random.choice(self.consumers))
            self.rebalance()

    def restart(self) -> None:
        """A consumer crashes, and its successor joins. That of a static member takes its place."""
        if not self.consumers:
            return
        gone = self.random.choice(self.consumers)
        position = self.consumers.index(gone)
        self._remove(gone)
        successor = self._new_consumer(gone.client_id)
        successor.instance = gone.instance
        self.consumers.insert(position, successor)
        if gone.instance is None:
            self.rebalance()
        else:
            taken = {index: successor for index, owner in self.owners.items() if owner is gone}
            self._ask_offsets(self._assign(self.owners | taken, is_new_generation=False))

    def exceed_poll_interval(self) -> None:
        """A consumer takes too long to process, leaves, and joins again on the same connection."""
        if self.protocol == "none" or not self.consumers:
            return
        slow = self.random.choice(self.consumers)
        self._remove(slow)
        self.rebalance()
        again = self._new_consumer(slow.client_id)
        again.connection = slow.connection
        if self.protocol in ASSIGNED_BY_COORDINATOR:
            # Its client keeps the id.
            again.name = slow.name
        self.consumers.append(again)
        self.rebalance()

    def rebalance(self, between: Callable[[], object] = lambda: None) -> None:
        """Assign the partitions. between: what happens before their owners ask for the committed offsets."""
        if not self.consumers:
            self._assign({}, is_new_generation=True)
            between()
            return
        self.random.shuffle(self.consumers)
        owners = dict(enumerate(self.consumers[index % len(self.consumers)] for index in range(len(self.partitions))))
        if self.protocol in ASSIGNED_BY_COORDINATOR:
            kept = [index for index, owner in self.owners.items() if owner in self.consumers and index in owners]
            owners |= {index: self.owners[index] for index in kept if self.random.random() < 0.5}
        begun = self._assign(owners, is_new_generation=True)
        between()
        self._ask_offsets(begun)

    def _new_consumer(self, client_id: str | None = None) -> Consumer:
        self.connections += 1
        if client_id is None:
            self.clients += 1
            client_id = "worker" if self.has_one_client_id else f"worker-{self.clients}"
        instance = f"instance-{self.connections}" if self.is_static else None
        return Consumer("", client_id, self.connections, self.turn + 1, instance)

    def _remove(self, consumer: Consumer) -> None:
        consumer.left = self.turn + 1
        self.consumers.remove(consumer)
        self.former.append(consumer)

    def _ask_offsets(self, begun: list[int]) -> None:
        if self.protocol != "none":
            for index in begun:
                self.broker.ask_offsets(self.owners[index], index)

    def _assign(self, owners: dict[int, Consumer], *, is_new_generation: bool) -> list[int]:
        """Give the partitions to their owners, and return those that begin at the committed offset."""
        self.turn += 1
        before, self.owners = (
            self.owners,
            self.broker.assign(self.consumers, owners, is_new_generation=is_new_generation),
        )
        keeps = self.protocol in ASSIGNED_BY_COORDINATOR or not is_new_generation
        for consumer in self.consumers:
            if self.protocol == "none":
                self.connections += 1
                consumer.connection = self.connections
            consumer.places = {
                index: place
                for index, place in consumer.places.items()
                if keeps and self.owners.get(index) is consumer and before.get(index) is consumer
            }
        begun = [index for index, owner in self.owners.items() if index not in owner.places]
        for index in begun:
            self.owners[index].places[index] = self.start(index)
        return begun

    def start(self, index: int) -> Place:
        """Return where a consumer begins in a partition."""
        partition = self.partitions[index]
        partition.begun_at = partition.committed
        if self.protocol != "none":
            partition.position = None
        if partition.committed is not None:
            return Place(partition.committed, expected=partition.committed)
        why = "reset" if partition.has_lost_commit else "start"
        return Place(self.random.choice([partition.start, partition.end]), why)

    def is_restart(self, former: Consumer, consumer: Consumer) -> bool:
        """Whether a consumer gets for the second time what it has got before it was started again."""
        if self.protocol == "none":
            return former.client_id == consumer.client_id
        if former.left is None:
            return False
        is_instance = former.instance is not None and former.instance == consumer.instance
        return is_instance or (former.client_id == consumer.client_id and consumer.joined >= former.left)

    def is_rejoin(self, former: Consumer, consumer: Consumer) -> bool:
        """Whether a consumer that joined again has got it before it left."""
        return self.protocol != "none" and former.connection == consumer.connection
