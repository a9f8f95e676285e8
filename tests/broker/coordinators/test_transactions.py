"""The transaction coordinator: records, timeouts, crashes, failed markers, transaction versions and epochs."""

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
    """Begin a transaction of "tx" with a record in each partition, and return its producer."""
    begun = scene.init("tx")
    producer = (begun.producer_id, begun.producer_epoch)
    scene.add("tx", producer, 0, 1, version=version)
    for index in (0, 1):
        scene.produce(index, producer)
    return producer


def state_of(scene: TransactionScene, name: str = "tx") -> tuple[str, int]:
    known = scene.coordinator.describe(name)
    return known.state_name, known.producer_epoch


def test_each_transition_of_a_transaction_is_written(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    scene.end("tx", producer, is_commit=True)

    assert scene.states("tx") == ["EMPTY", "ONGOING", "PREPARE_COMMIT", "COMPLETE_COMMIT"]
    assert scene.markers(0) == scene.markers(1) == [(producer[0], 1, True)]


def test_partitions_of_the_transaction_are_not_written_again(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    scene.add("tx", producer, 1)

    assert scene.states("tx") == ["EMPTY", "ONGOING"]


def test_an_id_whose_record_cannot_be_written_does_not_exist(scene: TransactionScene) -> None:
    topic = ensure_internal_topic(scene.cluster.controller, CoordinatorType.TRANSACTION)
    for partition in scene.cluster.node.replicas.partitions_of(topic):
        partition.log.fail_flush()

    assert error_of(lambda: scene.init("tx")) == "NOT_COORDINATOR"
    assert error_of(lambda: scene.coordinator.describe("tx")) == "TRANSACTIONAL_ID_NOT_FOUND"


def test_without_its_topic_the_coordinator_responds_not_coordinator(scene: TransactionScene) -> None:
    scene.cluster.controller.delete_topics([scene.cluster.image.topics["__transaction_state"]])

    assert error_of(lambda: scene.init("tx")) == "NOT_COORDINATOR"
    assert "__transaction_state" not in scene.cluster.image.topics


def test_deleting_the_topic_deletes_the_ids(scene: TransactionScene) -> None:
    scene.init("tx")

    scene.cluster.controller.delete_topics([scene.cluster.image.topics["__transaction_state"]])
    ensure_internal_topic(scene.cluster.controller, CoordinatorType.TRANSACTION)

    assert scene.coordinator.list_all() == []


# -- timeouts and expiry


def test_a_transaction_is_aborted_after_its_timeout_and_not_before(scene: TransactionScene) -> None:
    open_transaction(scene)

    scene.clock.advance(TIMEOUT_MS)
    before = state_of(scene)
    scene.clock.advance(ABORT_INTERVAL_MS)

    assert before == ("Ongoing", 0)
    assert state_of(scene) == ("CompleteAbort", 1)
    assert not scene.has_undecided(0)


def test_the_timeout_counts_on_after_a_restart(scene: TransactionScene) -> None:
    open_transaction(scene)
    scene.clock.advance(TIMEOUT_MS - 1)

    scene.restart()
    scene.clock.advance(ABORT_INTERVAL_MS)

    assert state_of(scene) == ("CompleteAbort", 1)


def test_an_id_expires_after_a_week_without_use(scene: TransactionScene) -> None:
    scene.init("tx")

    scene.clock.advance(7 * DAY_MS - EXPIRE_INTERVAL_MS)
    before = len(scene.coordinator.list_all())
    scene.clock.advance(EXPIRE_INTERVAL_MS)

    assert (before, scene.coordinator.list_all()) == (1, [])
    assert scene.states("tx") == ["EMPTY", ""]


def test_an_expired_id_stays_deleted_after_a_restart(scene: TransactionScene) -> None:
    scene.init("tx")
    scene.clock.advance(8 * DAY_MS)

    scene.restart()

    assert scene.coordinator.list_all() == []


def test_a_reset_cluster_has_no_timers(scene: TransactionScene) -> None:
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
def test_a_transaction_is_committed_or_aborted_everywhere_after_a_crash_at_any_append(
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


def test_a_retry_of_an_end_succeeds_after_a_crash(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    with scene.dying_before(2):
        scene.end("tx", producer, is_commit=True)

    again = scene.end("tx", producer, is_commit=True)

    assert (again.producer_id, again.producer_epoch) == (producer[0], 1)


def test_a_crash_while_a_producer_is_fenced_leaves_it_fenced(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    with scene.dying_before(1):
        scene.init("tx")

    assert state_of(scene) == ("CompleteAbort", 1)
    assert error_of(lambda: scene.add("tx", producer, 0)) == "PRODUCER_FENCED"


def test_producer_ids_in_the_coordinators_log_are_not_assigned_again(scene: TransactionScene) -> None:
    value = TransactionMetadata(
        transactional_id="tx", producer_id=5000, producer_epoch=3, timeout_ms=1000, last_update_ms=scene.clock.now_ms()
    ).as_value()
    log = scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)
    log.append("tx", [CoordinatorRecord(encode_key("tx"), value.encode(1))])

    scene.cluster.node.coordinators.load()

    assert scene.init("other").producer_id == 5001


def test_a_restored_snapshot_restores_transactions(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    snapshot = take_snapshot(scene.cluster)
    scene.end("tx", producer, is_commit=True)

    restore_snapshot(scene.cluster, snapshot)

    assert state_of(scene) == ("Ongoing", 0)
    assert scene.has_undecided(0)
    scene.end("tx", producer, is_commit=False)
    assert scene.markers(0) == [(producer[0], 1, False)]


def test_records_that_cannot_be_decoded_are_skipped(scene: TransactionScene) -> None:
    scene.init("tx")
    log = scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION)
    log.append(
        "tx", [CoordinatorRecord(b"\x00\x09what", b"?"), CoordinatorRecord(encode_key("tx"), b"\x00\x07no value")]
    )

    scene.restart()

    assert state_of(scene) == ("Empty", 0)


# -- markers that cannot be written


def test_a_failed_marker_is_written_later(scene: TransactionScene) -> None:
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


def test_a_deleted_partition_needs_no_marker(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    scene.cluster.controller.delete_topics([scene.cluster.image.topics["t"]])

    scene.end("tx", producer, is_commit=True)

    assert state_of(scene) == ("CompleteCommit", 1)


def test_a_partition_with_a_later_epoch_leaves_the_transaction_prepared(
    scene: TransactionScene,
) -> None:
    producer = open_transaction(scene)
    scene.produce(1, (producer[0], 9))

    scene.end("tx", producer, is_commit=True)
    scene.clock.advance(DAY_MS)

    # As in Kafka, which writes no more markers then.
    assert state_of(scene) == ("PrepareCommit", 1)


# -- transaction.version


@pytest.mark.parametrize(("level", "value_version"), [(0, 0), (1, 1), (2, 1)])
def test_transaction_version_selects_the_version_of_values(level: int, value_version: int) -> None:
    scene = TransactionScene(level)
    scene.init("tx")
    versions: list[int] = []

    scene.cluster.node.coordinators.coordinator_log(CoordinatorType.TRANSACTION).replay(
        lambda _, record: versions.append(int.from_bytes((record.value or b"")[:2], "big"))
    )

    assert versions == [value_version]


@pytest.mark.parametrize(("level", "last"), [(0, -1), (1, -1), (2, 0)])
def test_a_broker_that_bumps_epochs_accepts_the_retry_of_a_fenced_producer(level: int, last: int) -> None:
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


def test_a_value_without_later_fields_is_loaded() -> None:
    scene = TransactionScene(level=0)
    producer = open_transaction(scene, version=OLD)

    scene.restart()

    scene.end("tx", producer, is_commit=True, version=OLD)
    assert state_of(scene) == ("CompleteCommit", 0)


def test_transaction_version_0_rejects_newer_clients_and_their_transaction_stays_open() -> None:
    scene = TransactionScene(level=0)
    begun = scene.init("tx")
    producer = (begun.producer_id, begun.producer_epoch)

    assert error_of(lambda: scene.add("tx", producer, 0)) == "UNSUPPORTED_VERSION"
    scene.add("tx", producer, 0, version=OLD)
    assert error_of(lambda: scene.end("tx", producer, is_commit=True)) == "UNSUPPORTED_VERSION"
    scene.end("tx", producer, is_commit=True, version=OLD)

    assert state_of(scene) == ("CompleteCommit", 0)


def test_a_log_of_a_higher_transaction_version_is_continued_at_version_0(scene: TransactionScene) -> None:
    producer = open_transaction(scene)

    scene.cluster.image.features.updated = {"transaction.version": 0}
    scene.restart()

    scene.end("tx", producer, is_commit=True, version=OLD)
    assert state_of(scene) == ("CompleteCommit", 0)


# -- the last epoch of a producer id


def aged(scene: TransactionScene, epoch: int = 32766) -> tuple[int, int]:
    """Load "tx" from a record with an epoch near the last one, and return its producer."""
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


def test_after_the_last_epoch_a_new_producer_id_is_assigned(scene: TransactionScene) -> None:
    old = aged(scene)

    begun = scene.init("tx")

    assert (begun.producer_id, begun.producer_epoch) == (8, 0)
    assert error_of(lambda: scene.init("tx", expected=old)) == "PRODUCER_FENCED"


def test_an_init_with_the_last_epoch_can_be_repeated(scene: TransactionScene) -> None:
    old = aged(scene)

    given = [scene.init("tx", expected=old) for _ in range(2)]

    assert [(each.producer_id, each.producer_epoch) for each in given] == [(8, 0)] * 2


def test_an_end_in_the_last_epoch_returns_a_new_producer_id_and_can_be_repeated(scene: TransactionScene) -> None:
    old = aged(scene)
    scene.add("tx", old, 0)

    after = [scene.end("tx", old, is_commit=True) for _ in range(2)]

    assert [(each.producer_id, each.producer_epoch) for each in after] == [(8, 0)] * 2
    assert scene.markers(0) == [(7, 32767, True)]


def test_a_producer_fenced_in_its_last_epoch_gets_a_new_producer_id(scene: TransactionScene) -> None:
    scene.add("tx", aged(scene), 0)

    error = error_of(lambda: scene.init("tx"))

    assert error == "CONCURRENT_TRANSACTIONS"
    assert scene.markers(0) == [(7, 32767, False)]
    known = scene.coordinator.describe("tx")
    assert (known.producer_id, known.producer_epoch, known.previous_producer_id) == (8, 0, 7)


def test_an_init_with_another_epoch_than_the_last_one_fails_with_unknown_server_error(scene: TransactionScene) -> None:
    producer_id, _ = aged(scene)

    assert error_of(lambda: scene.init("tx", expected=(producer_id, 32765))) == "UNKNOWN_SERVER_ERROR"


def test_at_transaction_version_1_an_abort_in_the_last_epoch_leaves_no_epoch() -> None:
    scene = TransactionScene(1)
    scene.add("tx", aged(scene), 0)
    assert error_of(lambda: scene.init("tx")) == "CONCURRENT_TRANSACTIONS"

    error = error_of(lambda: scene.end("tx", (7, 32767), is_commit=False))

    assert error == "UNKNOWN_SERVER_ERROR"
    assert state_of(scene) == ("CompleteAbort", 32767)


# -- InitProducerId with a producer id and epoch (KIP-360)


def test_a_repeated_init_returns_the_same_epoch(scene: TransactionScene) -> None:
    begun = scene.init("tx")

    given = [scene.init("tx", expected=(begun.producer_id, 0)).producer_epoch for _ in range(2)]

    assert given == [1, 1]


def test_an_init_after_an_end_returns_the_epoch_of_the_end(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    after = scene.end("tx", producer, is_commit=True)

    again = scene.init("tx", expected=producer)

    assert (again.producer_id, again.producer_epoch) == (after.producer_id, after.producer_epoch)


def test_after_a_restart_the_previous_epoch_is_fenced(scene: TransactionScene) -> None:
    producer = open_transaction(scene)
    scene.end("tx", producer, is_commit=True)
    scene.restart()

    assert error_of(lambda: scene.init("tx", expected=producer)) == "PRODUCER_FENCED"
