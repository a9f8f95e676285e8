"""Producer ids are allocated from saved blocks, one for each node."""

from fauxka.broker.metadata.producer_id_manager import PRODUCER_ID_BLOCK_SIZE, ProducerIdManager


def test_ids_in_memory_are_allocated_without_a_claim() -> None:
    ids = ProducerIdManager()

    assert [ids.generate(1) for _ in range(3)] == [0, 1, 2]


def test_no_id_is_allocated_before_its_block_is_saved() -> None:
    ids = ProducerIdManager(5, is_persistent=True)
    before = ids.generate(1)
    is_claimed = ids.claim_block(1)
    meanwhile = ids.generate(1)

    ids.block_saved(ids.next_block_start)

    assert (before, is_claimed, meanwhile, ids.generate(1)) == (None, True, None, 5)
    assert ids.next_block_start == 5 + PRODUCER_ID_BLOCK_SIZE


def test_block_is_claimed_once_until_it_is_saved() -> None:
    ids = ProducerIdManager(is_persistent=True)

    assert (ids.claim_block(1), ids.claim_block(1)) == (True, False)
    assert ids.next_block_start == PRODUCER_ID_BLOCK_SIZE


def test_last_id_of_a_block_is_allocated_and_the_next_one_waits() -> None:
    ids = ProducerIdManager(is_persistent=True)
    ids.claim_block(1)
    ids.block_saved(ids.next_block_start)

    given = [ids.generate(1) for _ in range(PRODUCER_ID_BLOCK_SIZE)]

    assert given == list(range(PRODUCER_ID_BLOCK_SIZE))
    assert ids.generate(1) is None
    assert ids.claim_block(1)


def test_late_save_of_an_older_file_does_not_take_a_block_back() -> None:
    ids = ProducerIdManager(is_persistent=True)
    ids.claim_block(1)
    ids.block_saved(PRODUCER_ID_BLOCK_SIZE)

    ids.block_saved(0)

    assert ids.generate(1) == 0


def test_each_node_takes_the_next_block_when_it_allocates_its_first_id() -> None:
    ids = ProducerIdManager()

    given = [ids.generate(node_id) for node_id in (2, 2, 1, 3, 1)]

    assert given == [0, 1, 1000, 2000, 1001]


def test_node_takes_the_block_after_all_others_when_its_own_is_used_up() -> None:
    ids = ProducerIdManager()
    ids.generate(2)
    for _ in range(PRODUCER_ID_BLOCK_SIZE):
        ids.generate(1)

    assert (ids.generate(1), ids.generate(2)) == (2 * PRODUCER_ID_BLOCK_SIZE, 1)


def test_next_id_is_above_those_of_all_nodes() -> None:
    ids = ProducerIdManager()
    ids.generate(2)
    ids.generate(1)
    ids.generate(2)

    assert (ids.next_producer_id, ids.first_id_after_crash) == (1001, 2000)


def test_skipped_ids_are_allocated_to_no_node() -> None:
    ids = ProducerIdManager()
    ids.generate(1)
    ids.generate(2)

    assert not ids.skip_up_to(1500)

    assert (ids.generate(1), ids.generate(2)) == (2000, 1501)
    assert ids.skip_up_to(9999)
    assert ids.generate(3) == 10_000
