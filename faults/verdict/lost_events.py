"""Names the records of lost batches by their event ids, from the batches that were kept or that replicas still have."""

from __future__ import annotations

from collections.abc import Sequence

from ...protocol.batches.record_batch import parse_header
from ...protocol.shortened_text import shortened
from ..event_ids import EventIdOf
from ..work_steps import Steps
from .lost_batches import LostBatch
from .lost_ranges import LostRange
from .removed_batches import RemovedBatches
from .stored_batches import TopicLogs, decode_or_none

# Partition, leader epoch and first offset.
_Place = tuple[int, int, int]


class LostEvents:
    """The event ids of the lost records of one topic."""

    def __init__(self, removed: RemovedBatches, logs: TopicLogs, lost: Sequence[LostBatch], id_of: EventIdOf) -> None:
        """removed: the batches that were kept. logs: those of all replicas. id_of: reads the event id of a record."""
        self._removed = removed
        self._logs = logs
        self._lost = lost
        self._id_of = id_of
        self._in_replicas: dict[_Place, memoryview] | None = None

    def of_range(self, lost: LostRange) -> Steps[list[str]]:
        """Return the distinct event ids of the records, as far as their batches are known."""
        ids: dict[str, None] = {}
        for batch in lost.batches:
            data = yield from self._find_data(batch)
            for record in () if data is None else (yield from decode_or_none(data)):
                yield
                event_id = self._id_of(record)
                if event_id is not None:
                    ids[shortened(event_id.decode(errors="backslashreplace"))] = None
        return list(ids)

    def _find_data(self, lost: LostBatch) -> Steps[memoryview | None]:
        if lost.failover is None:
            kept = lost.removed
        else:
            kept = self._removed.find(lost.place, lost.failover.epoch)
            if kept is None:
                if self._in_replicas is None:
                    self._in_replicas = yield from self._read_replicas()
                return self._in_replicas.get((lost.partition, lost.failover.epoch, lost.base_offset))
        return None if kept is None or kept.data is None else memoryview(kept.data)

    def _read_replicas(self) -> Steps[dict[_Place, memoryview]]:
        """Return what replicas have of the batches that elections have lost: that of a former leader still has them."""
        wanted: dict[int, set[_Place]] = {}
        for each in self._lost:
            if each.failover is not None:
                place = (each.partition, each.failover.epoch, each.base_offset)
                wanted.setdefault(each.partition, set()).add(place)
        found: dict[_Place, memoryview] = {}
        for partition, places in wanted.items():
            from_offset = min(offset for _, _, offset in places)
            for batch in self._logs.replica_batches(self._lost[0].topic, partition, from_offset):
                yield
                header = parse_header(batch)
                place = (partition, header.partition_leader_epoch, header.base_offset)
                if place in places:
                    found[place] = batch
        return found
