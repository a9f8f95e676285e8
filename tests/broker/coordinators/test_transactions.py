"""Transactions of one node: what is written before it is answered, and what a node finds that died on the way."""

from __future__ import annotations

import pytest

from fauxka.broker.coordinators.coordinator_log import CoordinatorRecord
from fauxka.broker.coordinators.internal_topics import CoordinatorType, ensure_internal_topic
from fauxka.broker.coordinators.transaction.transaction_metadata import TransactionMetadata
from fauxka.broker.lifecycle.cluster_reset import reset_cluster
from fauxka.broker.lifecycle.cluster_snapshot import restore_snapshot, take_snapshot
from fauxka.protocol.stored_records.transaction_log_records import encode_key

from .transaction_scene import NEW, OLD, TIMEOUT_MS, TransactionScene, error_of

DAY_MS = 24 * 3600 * 1000
ABORT_INTERVAL_MS = 10_000
EXPIRE_INTERVAL_MS = 3600 * 1000


@pytest.fixture
def scene() -> TransactionScene:
    return TransactionScene()


def open_transaction(scene: TransactionScene, *, version: int = NEW) -> tuple[int, int]:
    """Begin a transaction of "tx" with a record in each of the partitions; return its producer."""
    begun = scene.init("tx")
    producer = (begun.producer_id, begun.producer_epoch)
    scene.add("tx", producer, 0, 1, version=version)
    for index in (0, 1):
        scene.produce(index, producer)
    return producer


def state_of(scene: TransactionScene, name: str = "tx") -> tuple[str, int]:
    known = scene.coordinator.describe(name)
    return known.state_name, known.producer_epoch


def test_each_step_of_a_transaction_is_written(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    scene.end("tx", producer, is_commit=True)

    assert scene.states("tx") == ["EMPTY", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"]
    assert scene.markers(0) == scene.markers(1) == [(producer[0], 1, True)]


def test_partitions_that_are_in_the_transaction_are_not_written_again(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    scene.add("tx", producer, 1)

    assert scene.states("tx") == ["EMPTY", "ONGOING"]


def test_nothing_is_known_of_an_id_whose_record_could_not_be_written(scene: TransactionScene) -> None:
    topic = ensure_internal_topic(scene.cluster.controller, CoordinatorType.TRANSACTION)
    for partition in scene.cluster.node.replicas.partitions_of(topic):
        partition.log.fail_flush()

    assert error_of(lambda: scene.init("tx")) == "NOT_COORDINATOR"
    assert error_of(lambda: scene.coordinator.describe("tx")) == "TRANSACTIONAL_ID_NOT_FOUND"


def test_before_anybody_looked_for_the_coordinator_it_is_not_here(scene: TransactionScene) -> None:
    scene.cluster.controller.delete_topics([scene.cluster.image.topics["__transaction_state"]])

    assert error_of(lambda: scene.init("tx")) == "NOT_COORDINATOR"
    assert "__transaction_state" not in scene.cluster.image.topics


def test_ids_are_gone_with_their_topic(scene: TransactionScene) -> None:
    scene.init("tx")

    scene.cluster.controller.delete_topics([scene.cluster.image.topics["__transaction_state"]])
    ensure_internal_topic(scene.cluster.controller, CoordinatorType.TRANSACTION)

    assert scene.coordinator.list_all() == []


# -- ends that nobody has asked for


def test_a_transaction_is_aborted_after_its_timeout_and_not_before(scene: TransactionScene) -> None:
    open_transaction(scene)

    scene.clock.advance(TIMEOUT_MS)
    before = state_of(scene)
    scene.clock.advance(ABORT_INTERVAL_MS)

    assert before == ("Ongoing", 0)
    assert state_of(scene) == ("CompleteAbort", 1)
    assert not scene.has_undecided(0)


def test_the_timeout_goes_on_over_a_restart(scene: TransactionScene) -> None:
    open_transaction(scene)
    scene.clock.advance(TIMEOUT_MS - 1)

    scene.restart()
    scene.clock.advance(ABORT_INTERVAL_MS)

    assert state_of(scene) == ("CompleteAbort", 1)


def test_an_id_expires_only_when_it_was_not_used_for_a_week(scene: TransactionScene) -> None:
    scene.init("tx")

    scene.clock.advance(7 * DAY_MS - EXPIRE_INTERVAL_MS)
    before = len(scene.coordinator.list_all())
    scene.clock.advance(EXPIRE_INTERVAL_MS)

    assert (before, scene.coordinator.list_all()) == (1, [])
    assert scene.states("tx") == ["EMPTY", ""]


def test_an_id_that_has_expired_is_not_known_after_a_restart(scene: TransactionScene) -> None:
    scene.init("tx")
    scene.clock.advance(8 * DAY_MS)

    scene.restart()

    assert scene.coordinator.list_all() == []


def test_no_timer_is_left_of_a_cluster_that_was_reset(scene: TransactionScene) -> None:
    open_transaction(scene)
    timers = scene.clock.pending_count

    reset_cluster(scene.cluster)
    scene.clock.advance(8 * DAY_MS)

    assert timers == 2
    assert scene.clock.pending_count == 0
    assert not scene.cluster.node.coordinators.has_transactions


# -- crashes


@pytest.mark.parametrize("append_number", range(5))
@pytest.mark.parametrize("is_commit", [True, False])
def test_a_transaction_is_whole_whichever_append_its_node_died_before(
    scene: TransactionScene, append_number: int, is_commit: bool
) -> None:
    producer = open_transaction(scene)

    with scene.dying_before(append_number):
        scene.end("tx", producer, is_commit=is_commit)

    # Prepare, two markers, Complete: with the first of them it is decided, and what the load writes ends it.
    ended = "CompleteCommit" if is_commit else "CompleteAbort"
    assert state_of(scene) == (("Ongoing", 0) if append_number == 0 else (ended, 1))
    assert [scene.has_undecided(index) for index in (0, 1)] == [append_number == 0] * 2
    assert set(scene.markers(0) + scene.markers(1)) <= {(producer[0], 1, is_commit)}


def test_a_retry_of_an_end_is_answered_after_the_crash_that_took_its_answer(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    with scene.dying_before(2):
        scene.end("tx", producer, is_commit=True)

    again = scene.end("tx", producer, is_commit=True)

    assert (again.producer_id, again.producer_epoch) == (producer[0], 1)


def test_a_node_that_died_while_it_fenced_a_producer_has_done_so(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    with scene.dying_before(1):
        scene.init("tx")

    assert state_of(scene) == ("CompleteAbort", 1)
    assert error_of(lambda: scene.add("tx", producer, 0)) == "PRODUCER_FENCED"


def test_producer_ids_that_only_the_coordinators_log_knows_are_not_given_again(scene: TransactionScene) -> None:
    value = TransactionMetadata(
        transactional_id="tx", producer_id=5000, producer_epoch=3, timeout_ms=1000, last_update_ms=scene.clock.now_ms()
    ).as_value()
    log = scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)
    log.append("tx", [CoordinatorRecord(encode_key("tx"), value.encode(1))])

    scene.cluster.node.coordinators.load()

    assert scene.init("other").producer_id == 5001


def test_a_snapshot_takes_transactions_back(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    snapshot = take_snapshot(scene.cluster)
    scene.end("tx", producer, is_commit=True)

    restore_snapshot(scene.cluster, snapshot)

    assert state_of(scene) == ("Ongoing", 0)
    assert scene.has_undecided(0)
    scene.end("tx", producer, is_commit=False)
    assert scene.markers(0) == [(producer[0], 1, False)]


def test_what_cannot_be_read_is_passed_over(scene: TransactionScene) -> None:
    scene.init("tx")
    log = scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)
    log.append(
        "tx", [CoordinatorRecord(b"\x00\x09what", b"?"), CoordinatorRecord(encode_key("tx"), b"\x00\x07no value")]
    )

    scene.restart()

    assert state_of(scene) == ("Empty", 0)


# -- markers that cannot be written


def test_a_marker_that_is_refused_is_written_later(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    log = scene.partition(1).log
    log.fail_flush()

    scene.end("tx", producer, is_commit=True)
    meanwhile = (state_of(scene), error_of(lambda: scene.init("tx")), scene.markers(0))
    left = dict(scene.coordinator.describe("tx").partitions)
    log.flushes.has_failed = False
    scene.clock.advance(1000)

    assert meanwhile == (("PrepareCommit", 1), "CONCURRENT_TRANSACTIONS", [(producer[0], 1, True)])
    assert left == {("t", 1): None}
    assert state_of(scene) == ("CompleteCommit", 1)
    assert scene.markers(0) == scene.markers(1) == [(producer[0], 1, True)]


def test_a_partition_that_was_deleted_needs_no_marker(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    scene.cluster.controller.delete_topics([scene.cluster.image.topics["t"]])

    scene.end("tx", producer, is_commit=True)

    assert state_of(scene) == ("CompleteCommit", 1)


def test_a_producer_that_is_in_a_later_epoch_in_a_partition_leaves_its_transaction_undecided(
    scene: TransactionScene,
) -> None:
    producer = open_transaction(scene)
    scene.produce(1, (producer[0], 9))

    scene.end("tx", producer, is_commit=True)
    scene.clock.advance(DAY_MS)

    # As in Kafka, which writes no more markers then.
    assert state_of(scene) == ("PrepareCommit", 1)


# -- the level of transaction.version


@pytest.mark.parametrize(("level", "value_version"), [(0, 0), (1, 1), (2, 1)])
def test_the_level_decides_in_which_version_values_are_written(level: int, value_version: int) -> None:
    scene = TransactionScene(level)
    scene.init("tx")
    versions: list[int] = []

    scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION).replay(
        lambda _, record: versions.append(int.from_bytes((record.value or b"")[:2], "big"))
    )

    assert versions == [value_version]


@pytest.mark.parametrize(("level", "last"), [(0, -1), (1, -1), (2, 0)])
def test_a_broker_that_raises_epochs_knows_the_retry_of_the_producer_it_fenced(level: int, last: int) -> None:
    scene = TransactionScene(level)
    open_transaction(scene, version=OLD)

    scene.clock.advance(TIMEOUT_MS + ABORT_INTERVAL_MS)

    known = scene.coordinator.describe("tx")
    assert (known.producer_epoch, known.last_producer_epoch) == (1, last)
    assert known.client_version == (NEW if level == NEW else OLD)


def test_a_client_without_transaction_versions_keeps_its_epoch(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    after = scene.end("tx", producer, is_commit=True, version=OLD)

    assert (after.producer_id, after.producer_epoch) == producer
    assert scene.markers(0) == [(*producer, True)]


def test_a_value_without_what_came_later_is_loaded() -> None:
    scene = TransactionScene(level=0)
    producer = open_transaction(scene, version=OLD)

    scene.restart()

    scene.end("tx", producer, is_commit=True, version=OLD)
    assert state_of(scene) == ("CompleteCommit", 0)


def test_at_level_0_a_client_with_transaction_versions_is_refused_and_its_transaction_stays_open() -> None:
    scene = TransactionScene(level=0)
    begun = scene.init("tx")
    producer = (begun.producer_id, begun.producer_epoch)

    assert error_of(lambda: scene.add("tx", producer, 0)) == "UNSUPPORTED_VERSION"
    scene.add("tx", producer, 0, version=OLD)
    assert error_of(lambda: scene.end("tx", producer, is_commit=True)) == "UNSUPPORTED_VERSION"
    scene.end("tx", producer, is_commit=True, version=OLD)

    assert state_of(scene) == ("CompleteCommit", 0)


def test_a_log_of_a_higher_level_is_gone_on_with_at_level_0(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    configs = scene.cluster.image.configs
    configs.current = configs.current.with_entries({"fauxka.transaction.version": "0"})
    scene.restart()

    scene.end("tx", producer, is_commit=True, version=OLD)
    assert state_of(scene) == ("CompleteCommit", 0)


# -- the last epoch of a producer id


def aged(scene: TransactionScene, epoch: int = 32766) -> tuple[int, int]:
    """Have "tx" in an epoch near the last one, as a log says; return its producer."""
    value = TransactionMetadata(
        transactional_id="tx",
        producer_id=7,
        producer_epoch=epoch,
        timeout_ms=TIMEOUT_MS,
        last_update_ms=scene.clock.now_ms(),
    ).as_value()
    scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION).append(
        "tx", [CoordinatorRecord(encode_key("tx"), value.encode(1))]
    )
    scene.cluster.node.coordinators.load()
    return 7, epoch


def test_behind_the_last_epoch_another_producer_id_is_given(scene: TransactionScene) -> None:
    old = aged(scene)

    begun = scene.init("tx")

    assert (begun.producer_id, begun.producer_epoch) == (8, 0)
    assert error_of(lambda: scene.init("tx", expected=old)) == "PRODUCER_FENCED"


def test_who_gives_its_last_epoch_may_repeat_the_request(scene: TransactionScene) -> None:
    old = aged(scene)

    given = [scene.init("tx", expected=old) for _ in range(2)]

    assert [(each.producer_id, each.producer_epoch) for each in given] == [(8, 0)] * 2


def test_the_end_of_the_last_epoch_gives_another_producer_id_and_may_be_repeated(scene: TransactionScene) -> None:
    old = aged(scene)
    scene.add("tx", old, 0)

    after = [scene.end("tx", old, is_commit=True) for _ in range(2)]

    assert [(each.producer_id, each.producer_epoch) for each in after] == [(8, 0)] * 2
    assert scene.markers(0) == [(7, 32767, True)]


def test_what_is_fenced_in_its_last_epoch_goes_on_with_another_producer_id(scene: TransactionScene) -> None:
    scene.add("tx", aged(scene), 0)

    error = error_of(lambda: scene.init("tx"))

    assert error == "CONCURRENT_TRANSACTIONS"
    assert scene.markers(0) == [(7, 32767, False)]
    known = scene.coordinator.describe("tx")
    assert (known.producer_id, known.producer_epoch, known.previous_producer_id) == (8, 0, 7)


def test_whoever_gives_another_epoch_than_the_last_one_is_told_of_a_fault(scene: TransactionScene) -> None:
    producer_id, _ = aged(scene)

    assert error_of(lambda: scene.init("tx", expected=(producer_id, 32765))) == "UNKNOWN_SERVER_ERROR"


def test_at_level_1_no_epoch_is_left_after_an_abort_by_the_broker_in_the_last_one() -> None:
    scene = TransactionScene(1)
    scene.add("tx", aged(scene), 0)
    assert error_of(lambda: scene.init("tx")) == "CONCURRENT_TRANSACTIONS"

    error = error_of(lambda: scene.end("tx", (7, 32767), is_commit=False))

    assert error == "UNKNOWN_SERVER_ERROR"
    assert state_of(scene) == ("CompleteAbort", 32767)


# -- a producer that begins again, and says what it was (KIP-360)


def test_who_repeats_its_beginning_gets_the_same_epoch(scene: TransactionScene) -> None:
    begun = scene.init("tx")

    given = [scene.init("tx", expected=(begun.producer_id, 0)).producer_epoch for _ in range(2)]

    assert given == [1, 1]


def test_who_begins_again_after_an_end_gets_the_epoch_that_the_end_gave(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    after = scene.end("tx", producer, is_commit=True)

    again = scene.init("tx", expected=producer)

    assert (again.producer_id, again.producer_epoch) == (after.producer_id, after.producer_epoch)


def test_after_a_restart_the_epoch_before_is_an_old_one(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    scene.end("tx", producer, is_commit=True)
    scene.restart()

    assert error_of(lambda: scene.init("tx", expected=producer)) == "PRODUCER_FENCED"
