"""Producer ids, each given once (Kafka: ProducerIdManager and the controller's ProducerIdControlManager)."""

from __future__ import annotations

# As many as Kafka's controller gives a broker at a time (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE).
PRODUCER_ID_BLOCK_SIZE = 1000
# What a producer id may grow to on the wire; nobody gets there.
PRODUCER_ID_MAX = 2**63 - 1


class ProducerIdManager:
    """Hands out producer ids in order, from blocks that are written down before their first id is given.

    What is left of a block when the broker stops is never given: nothing on disk tells how far it had come.
    """

    def __init__(self, first_producer_id: int = 0, *, is_kept: bool = False) -> None:
        """first_producer_id: must be above every id that a loaded log knows.

        is_kept: whether blocks have to be written down; without it ids are given for as long as there are any.
        """
        self._next_producer_id = first_producer_id
        self._saved_end = first_producer_id if is_kept else PRODUCER_ID_MAX
        # What has to be written down: where the block after all claimed ones begins.
        self.next_block_start = first_producer_id

    @property
    def next_producer_id(self) -> int:
        """The id that is given next, once its block is saved."""
        return self._next_producer_id

    @property
    def next_kept(self) -> int:
        """The first id that a node gives which died now, and knows no more than where the next block begins."""
        given_blocks = -(-self._next_producer_id // PRODUCER_ID_BLOCK_SIZE)
        return max(self.next_block_start, given_blocks * PRODUCER_ID_BLOCK_SIZE)

    def generate(self) -> int | None:
        """Return a producer id that was never given before; None where a block has to be claimed and saved first."""
        producer_id = self._next_producer_id
        if producer_id >= self._saved_end:
            return None
        self._next_producer_id += 1
        return producer_id

    def keep_above(self, producer_id: int) -> bool:
        """Give no id up to this one; return whether the next block begins elsewhere now, which is to be saved."""
        if producer_id < self._next_producer_id:
            return False
        self._next_producer_id = producer_id + 1
        if self._next_producer_id <= self.next_block_start:
            return False
        self.next_block_start = self._next_producer_id
        return True

    def claim_block(self) -> bool:
        """Take the next block, to be given from once it is saved; False where one is claimed already."""
        if self.next_block_start > self._saved_end:
            return False
        self.next_block_start += PRODUCER_ID_BLOCK_SIZE
        return True

    def block_saved(self, next_block_start: int) -> None:
        """Give from all before next_block_start: it is written down that the next block begins there."""
        self._saved_end = max(self._saved_end, next_block_start)
