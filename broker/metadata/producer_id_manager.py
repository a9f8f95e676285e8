"""Allocates producer ids, each at most once (Kafka: ProducerIdManager and ProducerIdControlManager)."""

from __future__ import annotations

# The block size of Kafka's controller (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE).
PRODUCER_ID_BLOCK_SIZE = 1000
PRODUCER_ID_MAX = 2**63 - 1


class ProducerIdManager:
    """Allocates producer ids in order, from blocks that are saved before their first id is allocated.

    The rest of a block at shutdown is never allocated, because only the block is saved, not the last id.
    """

    def __init__(self, first_producer_id: int = 0, *, is_persistent: bool = False) -> None:
        """first_producer_id: must be above every id in a log.

        is_persistent: whether blocks must be saved; in memory all ids are available at once.
        """
        self._next_producer_id = first_producer_id
        self._saved_end = first_producer_id if is_persistent else PRODUCER_ID_MAX
        # The start of the block after all claimed ones, which has to be saved.
        self.next_block_start = first_producer_id

    @property
    def next_producer_id(self) -> int:
        """The next id to allocate, once its block is saved."""
        return self._next_producer_id

    @property
    def first_id_after_crash(self) -> int:
        """The first id after a crash now: the start of the next block."""
        used_blocks = -(-self._next_producer_id // PRODUCER_ID_BLOCK_SIZE)
        return max(self.next_block_start, used_blocks * PRODUCER_ID_BLOCK_SIZE)

    def generate(self) -> int | None:
        """Allocate a producer id. Return None if a block must be claimed and saved first."""
        producer_id = self._next_producer_id
        if producer_id >= self._saved_end:
            return None
        self._next_producer_id += 1
        return producer_id

    def skip_up_to(self, producer_id: int) -> bool:
        """Never allocate an id up to this one. Return whether next_block_start has changed and must be saved."""
        if producer_id < self._next_producer_id:
            return False
        self._next_producer_id = producer_id + 1
        if self._next_producer_id <= self.next_block_start:
            return False
        self.next_block_start = self._next_producer_id
        return True

    def claim_block(self) -> bool:
        """Claim the next block. Return False if a claimed block is not saved yet."""
        if self.next_block_start > self._saved_end:
            return False
        self.next_block_start += PRODUCER_ID_BLOCK_SIZE
        return True

    def block_saved(self, next_block_start: int) -> None:
        """Note that next_block_start is saved: all ids below it may be allocated."""
        self._saved_end = max(self._saved_end, next_block_start)
