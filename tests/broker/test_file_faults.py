"""Files that go wrong under a broker that serves: what its clients see, and what is left after a crash."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fauxka.protocol.batches.record_batch import is_crc_right, is_whole, parse_header
from fauxka.protocol.error_codes import ErrorCode
from fauxka.testing import Broker

from ..manual_clock import manual_clock
from ..storage.logs import records_in
from ..wire.wire_connection import still_serves
from .topic_client import TIMESTAMP_MS, TOPIC, TopicClient

SECONDS_MAX = 20.0
SLOW_MS = 60_000
# Little after the records' timestamps: their producers are not to expire.
START_MS = TIMESTAMP_MS + 1000
FLUSHED = {"log.flush.interval.messages": "1"}
LOG = f"{TOPIC}-0/{0:020d}.log"
STORAGE_ERROR = ErrorCode.KAFKA_STORAGE_ERROR


def with_topic(broker: Broker) -> Broker:
    with TopicClient(broker.bootstrap_servers) as client:
        assert client.create_topic(TOPIC) == ErrorCode.NONE
    return broker


@pytest.fixture(params=["in memory", "on disk"])
def broker(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broker]:
    """A broker whose clock stands still, with a topic of two partitions."""
    data_dir = tmp_path / "data" if request.param == "on disk" else None
    with Broker(clock=manual_clock(START_MS), data_dir=data_dir) as broker:
        yield with_topic(broker)


@pytest.fixture
def flushed(tmp_path: Path) -> Iterator[Broker]:
    """One on disk that answers a produce when it is flushed."""
    with Broker(FLUSHED, clock=manual_clock(START_MS), data_dir=tmp_path / "data") as broker:
        yield with_topic(broker)


def wait_until(broker: Broker, is_so: Callable[[], bool]) -> None:
    """Have the broker's thread work until it is so."""
    deadline = time.monotonic() + SECONDS_MAX
    while not broker.call(is_so):
        assert time.monotonic() < deadline, "it never was"


def wait_restarted(broker: Broker) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not broker.is_running:
        assert time.monotonic() < deadline, "it was never started again"


def has_waiting(broker: Broker) -> bool:
    """Whether a thread waits for slow files."""
    assert broker.cluster.node.event_loop_bridge is not None
    return broker.cluster.node.event_loop_bridge.waiting_count > 0


def log_end_offset(broker: Broker) -> int:
    return broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.log_end_offset)


def values(client: TopicClient) -> list[bytes | None]:
    return [record.value for record in records_in(bytes(client.fetch().records or b""))]


def produced(client: TopicClient, *sequences: int) -> list[int]:
    """The base offset of each batch, or less than zero for the error that it was refused by."""
    answers = [client.produce(sequence) for sequence in sequences]
    return [-answer.error_code if answer.error_code else answer.base_offset for answer in answers]


# -- fail


def test_failed_write_is_a_storage_error_and_the_retry_gets_the_next_offset(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        rule = broker.files.add(action="fail", operation="write", file_kind="log", when={"skip": 1})
        offsets = produced(client, 0, 1, 1, 2)

        assert offsets == [0, -STORAGE_ERROR, 1, 2]
        assert (rule.hits, rule.matched, rule.remaining) == (1, 4, 0)
        assert values(client) == [b"value 0", b"value 1", b"value 2"]


def test_failed_fsync_is_a_storage_error_until_one_succeeds(flushed: Broker) -> None:
    def works_after_a_retry() -> bool:
        flushed.cluster.clock.advance(500)
        return not flushed.cluster.node.replicas.partition_of(TOPIC, 0).log.flushes.has_failed

    with TopicClient(flushed.bootstrap_servers) as client:
        rule = flushed.files.add(action="fail", operation="fsync", file_kind="log", when={"times": 2})
        failed = produced(client, 0)
        flushed.clock.advance(500)
        rule.await_hits(2)
        # The disk thread counts the hit before the event loop schedules the retry.
        wait_until(flushed, works_after_a_retry)
        offsets = produced(client, 0, 1)

    assert failed == [-STORAGE_ERROR]
    assert offsets == [0, 1]


def test_failed_rename_of_the_metadata_file_is_returned_to_the_client(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        flushed.files.add(action="fail", operation="rename", file_kind="metadata", path="cluster-metadata.json")
        refused = client.create_topic("more")
        created = client.create_topic("most")

    assert (refused, created) == (STORAGE_ERROR, ErrorCode.NONE)


# -- tear


def test_torn_write_is_a_storage_error_and_leaves_nothing_in_the_log(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="tear", bytes=30, file_kind="log", when={"skip": 1})
        offsets = produced(client, 0, 1, 1, 2)
    broker.crash()
    broker.restart()

    assert offsets == [0, -STORAGE_ERROR, 1, 2]
    with TopicClient(broker.bootstrap_servers) as client:
        assert values(client) == [b"value 0", b"value 1", b"value 2"]


def test_broker_that_dies_in_a_write_cuts_the_torn_tail_when_it_is_back(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        rule = broker.files.add(
            action="tear", bytes=30, file_kind="log", when={"skip": 2}, crash={"restart_after_ms": 100}
        )
        offsets = produced(client, 0, 1)
        client.send_produce(2)
        is_closed = client.wire.is_closed()
    is_down = not broker.is_running
    broker.clock.advance(100)
    wait_restarted(broker)

    assert offsets == [0, 1]
    assert is_closed
    assert is_down
    assert rule.hits == 1
    with TopicClient(broker.bootstrap_servers) as client:
        assert broker.call(lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.truncated_bytes) == 30
        assert produced(client, 1, 2, 3) == [1, 2, 3]
        assert values(client) == [b"value 0", b"value 1", b"value 2", b"value 3"]


def test_request_that_a_crash_met_writes_nothing_more(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="tear", bytes=30, path=LOG, crash={})
        client.send_produce(0, partitions=2)
        is_closed = client.wire.is_closed()
    broker.restart()

    assert is_closed
    assert broker.call(lambda: [each.log.log_end_offset for each in broker.cluster.node.replicas.partitions()]) == [
        0,
        0,
    ]


# -- lose


def test_lost_write_is_acknowledged_and_readable_and_lost_after_a_crash(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="lose", operation="write", file_kind="log", when={"skip": 1})
        offsets = produced(client, 0, 1)
        seen = values(client)
    broker.crash()
    broker.restart()

    assert offsets == [0, 1]
    assert seen == [b"value 0", b"value 1"]
    with TopicClient(broker.bootstrap_servers) as client:
        assert values(client) == [b"value 0"]


def test_lost_write_is_in_the_verdict_after_a_crash(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="lose", operation="write", file_kind="log", when={"skip": 1})
        produced(client, 0, 1)
    before = broker.verdict(TOPIC).batches.acknowledged_lost
    broker.crash()
    broker.restart()

    assert (before, broker.verdict(TOPIC).batches.acknowledged_lost) == (0, 1)


def test_log_ends_in_front_of_a_lost_write_after_a_crash(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="lose", operation="write", file_kind="log", when={"skip": 1})
        produced(client, 0, 1, 2)
    broker.crash()
    broker.restart()

    assert log_end_offset(broker) == 1


def test_lost_fsync_is_acknowledged_and_its_bytes_are_lost_after_a_crash(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        flushed.files.add(action="lose", operation="fsync", file_kind="log", when={"skip": 1})
        offsets = produced(client, 0, 1)
    flushed.crash()
    flushed.restart()

    assert offsets == [0, 1]
    assert log_end_offset(flushed) == 1


def test_lost_write_is_lost_by_a_clean_stop_too(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path / "data") as broker, TopicClient(with_topic(broker).bootstrap_servers) as client:
        broker.files.add(action="lose", operation="write", file_kind="log", when={"skip": 1})
        produced(client, 0, 1)

    with Broker(data_dir=tmp_path / "data") as broker:
        assert log_end_offset(broker) == 1


def test_topic_whose_metadata_was_lost_is_not_there_after_a_crash(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        flushed.files.add(action="lose", operation="rename", path="cluster-metadata.json", when={"times": None})
        created = client.create_topic("more")
    flushed.crash()
    flushed.restart()

    assert created == ErrorCode.NONE
    assert flushed.call(lambda: sorted(flushed.cluster.image.topics)) == [TOPIC]


def test_lost_snapshot_is_made_up_for_from_the_log(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        small = {"internal.segment.bytes": "200"}
        flushed.call(lambda: flushed.cluster.controller.alter_topic_configs(flushed.cluster.image.topics[TOPIC], small))
        rule = flushed.files.add(action="lose", operation="write", file_kind="snapshot", when={"times": None})
        produced(client, 0, 1, 2, 3)
        hits = rule.hits
    flushed.crash()
    flushed.restart()

    assert hits > 0
    with TopicClient(flushed.bootstrap_servers) as client:
        assert produced(client, 3, 4) == [3, 4]


# -- slow


def test_slow_write_delays_its_response_and_no_other(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="slow", ms=SLOW_MS, operation="write", file_kind="log")
        client.send_produce(0)
        wait_until(broker, lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.log_end_offset == 1)
        client.send_produce(1)
        wait_until(broker, lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.log_end_offset == 2)
        is_served = still_serves(broker.bootstrap_servers)
        was_answered = [client.wire.has_received()]
        broker.clock.advance(SLOW_MS - 1)
        was_answered.append(client.wire.has_received())
        broker.clock.advance(1)
        answers = [client.receive_produced()[0].base_offset for _ in range(2)]

    assert is_served
    assert was_answered == [False, False]
    assert answers == [0, 1]


def test_answer_to_a_request_that_a_rule_looks_at_is_late_too(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.faults.add(match={"api": "Produce"}, point="received", action={"kind": "observe"})
        broker.files.add(action="slow", ms=SLOW_MS, operation="write", file_kind="log")
        client.send_produce(0)
        wait_until(broker, lambda: broker.cluster.node.replicas.partition_of(TOPIC, 0).log.log_end_offset == 1)
        still_serves(broker.bootstrap_servers)
        was_answered = client.wire.has_received()
        broker.clock.advance(SLOW_MS)

        assert not was_answered
        assert client.receive_produced()[0].base_offset == 0


def test_slow_write_without_an_answer_makes_no_other_late(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="slow", ms=SLOW_MS, operation="write", file_kind="log")
        client.send_produce(0, acks=0)

        assert produced(client, 1) == [1]


def test_slow_fsync_delays_its_response_and_no_other(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        rule = flushed.files.add(action="slow", ms=SLOW_MS, operation="fsync", file_kind="log")
        client.send_produce(0)
        rule.await_hits(1)
        is_served = still_serves(flushed.bootstrap_servers)
        was_answered = client.wire.has_received()
        advance_until(flushed, client)

        assert is_served
        assert not was_answered
        assert client.receive_produced()[0].base_offset == 0


def test_slow_rename_of_the_metadata_file_makes_the_answer_late(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        rule = flushed.files.add(action="slow", ms=SLOW_MS, operation="rename", file_kind="metadata")
        client.send_create_topic("more")
        rule.await_hits(1)
        is_served = still_serves(flushed.bootstrap_servers)
        was_answered = client.wire.has_received()
        advance_until(flushed, client)

        assert is_served
        assert not was_answered
        assert client.receive_created() == ErrorCode.NONE


def advance_until(broker: Broker, client: TopicClient) -> None:
    """Move the clock on until an answer has come: the step in another thread may begin to wait a little later."""
    deadline = time.monotonic() + SECONDS_MAX
    while not client.wire.has_received():
        assert time.monotonic() < deadline, "no answer came"
        broker.clock.advance(SLOW_MS)


def test_broker_that_stops_waits_for_no_slow_file(tmp_path: Path) -> None:
    with Broker(FLUSHED, data_dir=tmp_path / "data") as broker:
        with_topic(broker)
        rule = broker.files.add(action="slow", ms=SLOW_MS, operation="fsync", when={"times": None})
        with TopicClient(broker.bootstrap_servers) as client:
            client.send_produce(0)
            rule.await_hits(1)
        began = time.monotonic()

    assert time.monotonic() - began < SLOW_MS / 1000


def test_wait_for_slow_files_ends_with_the_last_rule(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        rule = flushed.files.add(action="slow", ms=SLOW_MS, operation="fsync", file_kind="log")
        client.send_produce(0)
        rule.await_hits(1)
        wait_until(flushed, lambda: has_waiting(flushed))
        rule.remove()

        assert client.receive_produced()[0].base_offset == 0


def test_crash_ends_the_waits_for_slow_files(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        rule = flushed.files.add(action="slow", ms=SLOW_MS, operation="fsync", file_kind="log")
        client.send_produce(0)
        rule.await_hits(1)
        flushed.crash()
        flushed.restart()

    with TopicClient(flushed.bootstrap_servers) as client:
        assert produced(client, 0, 1) == [0, 1]


# -- disk_full and read_only


def test_full_disk_refuses_until_it_is_lifted(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        before = produced(client, 0)
        with broker.files.add(action="disk_full"):
            refused = produced(client, 1, 1)
            not_created = client.create_topic("more")
            seen = values(client)
        after = produced(client, 1, 2)
        created = client.create_topic("more")

    assert (before, refused, after) == ([0], [-STORAGE_ERROR] * 2, [1, 2])
    assert seen == [b"value 0"]
    assert (not_created, created) == (STORAGE_ERROR, ErrorCode.NONE)


def test_full_folder_leaves_the_other_partitions_alone(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="disk_full", folder=f"{TOPIC}-0")
        client.send_produce(0, partitions=2)

        assert [each.error_code for each in client.receive_produced()] == [STORAGE_ERROR, ErrorCode.NONE]


def test_read_only_files_are_read_and_not_written(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        produced(client, 0)
        with broker.files.add(action="read_only"):
            refused = produced(client, 1)
            seen = values(client)
        after = produced(client, 1)

    assert (refused, seen, after) == ([-STORAGE_ERROR], [b"value 0"], [1])


def test_imported_logs_have_a_full_disk_too(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path / "data") as broker, TopicClient(with_topic(broker).bootstrap_servers) as client:
        produced(client, 0)

    with Broker(import_logs=tmp_path / "data") as broker, TopicClient(broker.bootstrap_servers) as client:
        with broker.files.add(action="disk_full"):
            refused = produced(client, 1)
        after = produced(client, 1)

    assert (refused, after) == ([-STORAGE_ERROR], [1])


# -- corrupt


def test_corrupt_write_is_acknowledged_and_its_checksum_is_wrong(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="corrupt", file_kind="log")
        offsets = produced(client, 0)
        records = memoryview(bytes(client.fetch().records or b""))
        header = parse_header(records)

    assert offsets == [0]
    assert is_whole(header, len(records))
    assert not is_crc_right(records, header.crc)


def test_corrupt_batch_is_cut_off_when_the_log_is_recovered(broker: Broker) -> None:
    with TopicClient(broker.bootstrap_servers) as client:
        broker.files.add(action="corrupt", file_kind="log", when={"skip": 1})
        produced(client, 0, 1, 2)
    broker.crash()
    broker.restart()

    assert log_end_offset(broker) == 1


def test_corrupt_snapshot_is_made_up_for_from_the_log(flushed: Broker) -> None:
    with TopicClient(flushed.bootstrap_servers) as client:
        small = {"internal.segment.bytes": "200"}
        flushed.call(lambda: flushed.cluster.controller.alter_topic_configs(flushed.cluster.image.topics[TOPIC], small))
        rule = flushed.files.add(action="corrupt", file_kind="snapshot", when={"times": None})
        produced(client, 0, 1, 2, 3)
        hits = rule.hits
    flushed.crash()
    flushed.restart()

    assert hits > 0
    with TopicClient(flushed.bootstrap_servers) as client:
        assert produced(client, 3, 4) == [3, 4]
