"""Producer ids are allocated from saved blocks."""

from fauxka.broker.metadata.producer_id_manager import PRODUCER_ID_BLOCK_SIZE, ProducerIdManager


def test_ids_in_memory_are_allocated_without_blocks() -> None:
    ids = ProducerIdManager()

    assert [ids.generate() for _ in range(3)] == [0, 1, 2]


def test_no_id_is_allocated_before_its_block_is_saved() -> None:
    ids = ProducerIdManager(5, is_persistent=True)
    before = ids.generate()
    is_claimed = ids.claim_block()
    meanwhile = ids.generate()

    ids.block_saved(ids.next_block_start)

    assert (before, is_claimed, meanwhile, ids.generate()) == (None, True, None, 5)
    assert ids.next_block_start == 5 + PRODUCER_ID_BLOCK_SIZE


def test_block_is_claimed_once_until_it_is_saved() -> None:
    ids = ProducerIdManager(is_persistent=True)

    assert (ids.claim_block(), ids.claim_block()) == (True, False)
    assert ids.next_block_start == PRODUCER_ID_BLOCK_SIZE


def test_last_id_of_a_block_is_allocated_and_the_next_one_waits() -> None:
    ids = ProducerIdManager(is_persistent=True)
    ids.claim_block()
    ids.block_saved(ids.next_block_start)

    given = [ids.generate() for _ in range(PRODUCER_ID_BLOCK_SIZE)]

    assert given == list(range(PRODUCER_ID_BLOCK_SIZE))
    assert ids.generate() is None
    assert ids.claim_block()


def test_late_save_of_an_older_file_does_not_take_a_block_back() -> None:
    ids = ProducerIdManager(is_persistent=True)
    ids.claim_block()
    ids.block_saved(PRODUCER_ID_BLOCK_SIZE)

    ids.block_saved(0)

    assert ids.generate() == 0
