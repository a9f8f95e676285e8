"""The group of ConsumerModel with real requests to a real broker."""

from __future__ import annotations

from collections.abc import Callable

from fauxka.testing import Broker

from .consumer_model import ConsumerModel
from .wire_broker import WireBroker


class WireModel(ConsumerModel):
    """A run in a broker of two nodes, which is reset before."""

    broker: WireBroker
    # Members of a streams group are in tests of its coordinator.
    protocols = ("classic", "consumer", "none")

    def __init__(self, seed: int, broker: Broker) -> None:
        self._real_broker = broker
        broker.reset()
        super().__init__(seed)

    def make_broker(self) -> WireBroker:
        return WireBroker(
            self._real_broker,
            self.random,
            self.protocol,
            partitions=len(self.partitions),
            reads_committed=self.reads_committed,
        )

    @property
    def faults(self) -> list[Callable[[], None]]:
        """Return the steps without those whose requests overtake each other."""
        return [each for each in super().faults if each != self.rebalance_over_a_fetch]

    def truncate(self) -> None:
        """Records reach the leader only, a consumer gets them, and an unclean election takes them back."""
        index = self.random.randrange(len(self.partitions))
        partition, count = self.partitions[index], self.random.randint(1, 4)
        end = partition.end
        if partition.open_since is not None:
            return
        self.broker.stop_replicating(index)
        partition.end += count
        self.broker.append(index, count)
        owner = self.owners.get(index)
        if owner is not None:
            self.fetch_from(owner, index)
        self.truncate_to(index, end)
