"""Producer ids, each given once (Kafka: ProducerIdManager)."""

from __future__ import annotations


class ProducerIdManager:
    """Hands out producer ids in order, from 0 on."""

    def __init__(self, first_producer_id: int = 0) -> None:
        """first_producer_id: must be above every id that a loaded log knows."""
        self._next_producer_id = first_producer_id

    def generate(self) -> int:
        """Return a producer id that was never given before."""
        producer_id = self._next_producer_id
        self._next_producer_id += 1
        return producer_id
