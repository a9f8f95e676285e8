"""Counts the batches of handled requests for the verdict.

`count_plain` counts the one batch of nearly every Produce. It is written for speed: the counts are loaded with the
first batch, and attributes tell whether more depends on a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...storage.append_result import AppendResult
from .. import verdict
from .journal_record import PENDING, Decision
from .without_watching import NothingWithheld, OneNode, Reachability

if TYPE_CHECKING:
    from array import array

    from ..request_view import RequestView
    from ..verdict.delivery_counts import DeliveryCounts
    from ..verdict.withheld_batches import WithheldBatches


class CountedBatches:
    """The counts of batches. reachability: which nodes the controller reaches; set for a cluster of several nodes."""

    __slots__ = ("_appended", "_deliveries", "_withheld", "reachability")

    def __init__(self) -> None:
        """Count nothing yet, for one node."""
        self._deliveries: DeliveryCounts | None = None
        # Parts of deliveries that every batch uses.
        self._appended: dict[tuple[str, int, int], array[int]] = {}
        self._withheld: WithheldBatches | NothingWithheld = NothingWithheld()
        self.reachability: Reachability | OneNode = OneNode()

    @property
    def deliveries(self) -> DeliveryCounts:
        """The counts that the verdict is made of, loaded when they are first needed."""
        deliveries = self._deliveries
        if deliveries is None:
            deliveries = self._deliveries = verdict.delivery_counts.DeliveryCounts()
            self._appended = deliveries.counts.appended
            self._withheld = deliveries.withheld
        return deliveries

    def count_plain(self, topic: str, partition: int, result: AppendResult) -> bool:
        """Count an appended batch with a response; return False if `count` must, because more depends on it."""
        if result.is_duplicate or self._withheld.watched or self.reachability.has_cut_off:
            return False
        self._add(topic, partition, result)
        return True

    def _add(self, topic: str, partition: int, result: AppendResult) -> None:
        key = (topic, partition, result.header.producer_id)
        offsets = self._appended.get(key)
        if offsets is None:
            self.deliveries.counts.first_of(key, result.base_offset)
        else:
            offsets.append(result.base_offset)

    def count(self, context: RequestView, request_id: int, batches: Sequence[Decision], state: int) -> None:
        """Count the batches of a handled request. state: of its response, as in Journal.handled."""
        deliveries = self.deliveries
        is_plain = state <= PENDING and not self._withheld.watched
        leaders = deliveries.failovers.histories
        for batch in batches:
            topic, partition, decision = batch
            if type(decision) is AppendResult and not decision.is_duplicate:
                if leaders and deliveries.appended_elsewhere(context, request_id, batch, state):
                    continue
                self._add(topic, partition, decision)
                if is_plain:
                    continue
            deliveries.decided(context, request_id, batch, state)
