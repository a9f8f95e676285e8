"""Allocates producer ids, each at most once (Kafka: ProducerIdManager and ProducerIdControlManager)."""

from __future__ import annotations

from dataclasses import dataclass

# The block size of Kafka's controller (ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE).
PRODUCER_ID_BLOCK_SIZE = 1000
PRODUCER_ID_MAX = 2**63 - 1


@dataclass(slots=True)
class _Block:
    """The rest of a node's block: the ids from start to end - 1."""

    start: int
    end: int


class ProducerIdManager:
    """Allocates producer ids from a block for each node. A block is saved before its first id is allocated.

    The rest of a block at shutdown is never allocated, because only the end of all blocks is saved, not the last id.
    """

    def __init__(self, first_producer_id: int = 0, *, is_persistent: bool = False) -> None:
        """first_producer_id: must be above every id in a log.

        is_persistent: whether blocks must be saved; in memory each block is available at once.
        """
        self._is_persistent = is_persistent
        self._saved_end = first_producer_id if is_persistent else PRODUCER_ID_MAX
        # The blocks by node id.
        self._blocks: dict[int, _Block] = {}
        # The start of the block after all claimed ones, which has to be saved.
        self.next_block_start = first_producer_id

    @property
    def next_producer_id(self) -> int:
        """The first id after all allocated ones. The blocks of other nodes may have unused ids before it."""
        last = max(self._blocks.values(), key=lambda block: block.end, default=None)
        return self.next_block_start if last is None or last.start == last.end else last.start

    @property
    def first_id_after_crash(self) -> int:
        """The first id after a crash now: the start of the next block."""
        used_blocks = -(-self.next_producer_id // PRODUCER_ID_BLOCK_SIZE)
        return used_blocks * PRODUCER_ID_BLOCK_SIZE

    def generate(self, node_id: int) -> int | None:
        """Allocate a producer id of the node. Return None if a block must be claimed and saved first."""
        if not self._is_persistent:
            self.claim_block(node_id)
        block = self._blocks.get(node_id)
        if block is None or block.start == block.end or block.end > self._saved_end:
            return None
        producer_id = block.start
        block.start += 1
        return producer_id

    def is_used_up(self, node_id: int) -> bool:
        """Whether the node needs a new block."""
        block = self._blocks.get(node_id)
        return block is None or block.start == block.end

    def skip_up_to(self, producer_id: int) -> bool:
        """Never allocate an id up to this one. Return whether next_block_start has changed and must be saved."""
        for block in self._blocks.values():
            block.start = max(block.start, min(producer_id + 1, block.end))
        if producer_id < self.next_block_start:
            return False
        self.next_block_start = producer_id + 1
        return True

    def claim_block(self, node_id: int) -> bool:
        """Claim the next block for the node. Return False if the ids of its present block are not used up."""
        if not self.is_used_up(node_id):
            return False
        start = self.next_block_start
        self.next_block_start += PRODUCER_ID_BLOCK_SIZE
        self._blocks[node_id] = _Block(start, self.next_block_start)
        return True

    def forget_block(self, node_id: int) -> None:
        """Allocate nothing more from the block of a node that has stopped; its next start claims another."""
        self._blocks.pop(node_id, None)

    def block_saved(self, next_block_start: int) -> None:
        """Note that next_block_start is saved: all ids below it may be allocated."""
        self._saved_end = max(self._saved_end, next_block_start)
