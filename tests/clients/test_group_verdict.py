"""The verdict on a group of real clients: each situation, and its twin without a fault."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fauxka.faults.consumption.group_verdict import GroupFinding, GroupVerdict
from fauxka.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fauxka.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fauxka.testing import Broker

from ..wire.message_client import MessageClient
from .client import eventually
from .group_readers import READERS, TOPIC, MakeReader

pytestmark = pytest.mark.clients

GROUP = "billing"
CONFIG = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker(CONFIG) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    shared.reset()
    shared.topics.create(TOPIC, partitions=1)
    append(shared, 10)
    return shared


@pytest.fixture(params=READERS.values(), ids=list(READERS))
def make_reader(request: pytest.FixtureRequest) -> MakeReader:
    made: MakeReader = request.param
    return made


def append(broker: Broker, count: int) -> None:
    broker.topics.seed(TOPIC, [{"key": f"k{number}", "value": "v"} for number in range(count)])


def verdict_of(broker: Broker) -> GroupVerdict:
    return broker.verdict(group=GROUP)


def the_finding(verdict: GroupVerdict) -> GroupFinding:
    (finding,) = verdict.findings
    return finding


def assert_clean(verdict: GroupVerdict) -> None:
    assert verdict.findings == []
    verdict.assert_delivered_once()
    verdict.assert_nothing_skipped()
    verdict.assert_lag(0)


def read_by_two(broker: Broker, make_reader: MakeReader, *, committed: int, **second: str) -> GroupVerdict:
    """Return the verdict after one consumer has read 10 records and committed, and another one has read the rest."""
    options = {"group_instance_id": second["group_instance_id"]} if "group_instance_id" in second else {}
    first = make_reader(broker.bootstrap_servers, GROUP, **options)
    assert first.read(10) == list(range(10))
    first.commit(committed)
    first.close()
    append(broker, 2)
    reader = make_reader(broker.bootstrap_servers, GROUP, **second)
    assert reader.read(12 - committed) == list(range(committed, 12))
    reader.commit(12)
    reader.close()
    return verdict_of(broker)


def test_partition_that_moves_before_a_commit_is_delivered_twice(broker: Broker, make_reader: MakeReader) -> None:
    verdict = read_by_two(broker, make_reader, committed=4, client_id="another worker")

    finding = the_finding(verdict)

    assert (finding.kind, finding.cause, finding.offsets) == ("delivered_twice", "rebalance_before_commit", [4, 9])
    assert finding.keys == ["k4", "k5", "k6", "k7", "k8"]
    with pytest.raises(AssertionError, match=r"orders-0, offsets 4\.\.9: the partition went from .* to .* when 4 was"):
        verdict.assert_delivered_once()


def test_partition_that_moves_after_a_commit_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    assert_clean(read_by_two(broker, make_reader, committed=10, client_id="another worker"))


def test_client_that_restarts_before_a_commit_gets_records_twice(broker: Broker, make_reader: MakeReader) -> None:
    finding = the_finding(read_by_two(broker, make_reader, committed=4))

    assert (finding.kind, finding.cause, finding.offsets) == ("delivered_twice", "restart_before_commit", [4, 9])


def test_static_member_that_restarts_before_a_commit_gets_records_twice(
    broker: Broker, make_reader: MakeReader
) -> None:
    verdict = read_by_two(broker, make_reader, committed=4, client_id="another name", group_instance_id="one")

    finding = the_finding(verdict)

    assert (finding.kind, finding.cause, finding.offsets) == ("delivered_twice", "restart_before_commit", [4, 9])


def test_static_member_that_restarts_after_a_commit_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    assert_clean(read_by_two(broker, make_reader, committed=10, group_instance_id="one"))


def read_with_commits(broker: Broker, make_reader: MakeReader, *commits: int) -> GroupVerdict:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    for offset in commits:
        reader.commit(offset)
    reader.close()
    return verdict_of(broker)


def test_commits_in_the_wrong_order_move_the_group_back(broker: Broker, make_reader: MakeReader) -> None:
    finding = the_finding(read_with_commits(broker, make_reader, 10, 6))

    assert (finding.kind, finding.cause, finding.offsets) == ("commit_moved_back", "member", [6, 9])


def test_commits_in_the_right_order_are_clean(broker: Broker, make_reader: MakeReader) -> None:
    assert_clean(read_with_commits(broker, make_reader, 6, 10))


def test_what_follows_a_commit_that_moved_back_is_delivered_twice(broker: Broker, make_reader: MakeReader) -> None:
    read_with_commits(broker, make_reader, 10, 6)
    reader = make_reader(broker.bootstrap_servers, GROUP)
    assert reader.read(4) == [6, 7, 8, 9]
    reader.commit(10)
    reader.close()

    kinds = [(each.kind, each.cause, each.offsets) for each in verdict_of(broker).findings]

    assert kinds == [
        ("commit_moved_back", "member", [6, 9]),
        ("delivered_twice", "commit_moved_back", [6, 9]),
    ]


def test_commit_beyond_the_records_skips_them(broker: Broker, make_reader: MakeReader) -> None:
    read_with_commits(broker, make_reader, 10, 13)
    append(broker, 5)
    reader = make_reader(broker.bootstrap_servers, GROUP)
    assert reader.read(2) == [13, 14]
    reader.commit(15)
    reader.close()

    verdict = verdict_of(broker)

    assert [(each.kind, each.cause, each.offsets) for each in verdict.findings] == [
        ("commit_beyond_delivery", "member", [10, 12]),
        ("never_delivered", "committed_beyond_delivery", [10, 12]),
    ]
    with pytest.raises(AssertionError, match="committed 13, and the group never got them"):
        verdict.assert_nothing_skipped()


def test_seek_back_delivers_twice(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    reader.seek(7)
    assert reader.read(3) == [7, 8, 9]
    reader.commit(10)
    reader.close()

    finding = the_finding(verdict_of(broker))

    assert (finding.kind, finding.cause, finding.offsets) == ("delivered_twice", "seek", [7, 9])


def test_retention_ahead_of_a_slow_consumer_and_a_reset_to_the_end_skip_records(
    broker: Broker, make_reader: MakeReader
) -> None:
    read_with_commits(broker, make_reader, 10)
    append(broker, 10)
    delete_records(broker, 15)
    before = broker.journal.last_id
    reader = make_reader(broker.bootstrap_servers, GROUP, auto_offset_reset="latest")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(reader.read, 1)
        wait_until_reset(broker, before)
        append(broker, 1)
        assert read.result() == [20]
    reader.commit(21)
    reader.close()

    verdict = verdict_of(broker)

    assert [(each.kind, each.cause, each.offsets) for each in verdict.findings] == [
        ("never_delivered", "deleted_before_read", [10, 14]),
        ("never_delivered", "reset_to_latest", [15, 19]),
    ]


def test_consumer_that_keeps_up_with_retention_is_clean(broker: Broker, make_reader: MakeReader) -> None:
    read_with_commits(broker, make_reader, 10)
    append(broker, 10)
    reader = make_reader(broker.bootstrap_servers, GROUP, auto_offset_reset="latest")
    assert reader.read(10) == list(range(10, 20))
    reader.commit(20)
    reader.close()
    delete_records(broker, 15)

    assert_clean(verdict_of(broker))


def delete_records(broker: Broker, offset: int) -> None:
    partition = DeleteRecordsPartition(partition_index=0, offset=offset)
    topic = DeleteRecordsTopic(name=TOPIC, partitions=[partition])
    with MessageClient(broker.bootstrap_servers) as client:
        client.call(DeleteRecordsRequest(topics=[topic], timeout_ms=1000), 2)


def wait_until_reset(broker: Broker, since: int) -> None:
    """Wait until a reader has asked for the end of the log, and fetches from there."""

    def fetches_after_reset() -> bool:
        asked = broker.journal.entries(api="ListOffsets", since=since)
        return bool(asked) and broker.journal.count(api="Fetch", since=asked[-1].id) > 0

    assert eventually(fetches_after_reset, expected=True)


def test_commit_of_a_member_that_is_gone_is_a_stale_one(broker: Broker, make_reader: MakeReader) -> None:
    reader = make_reader(broker.bootstrap_servers, GROUP)
    reader.read(10)
    (member,) = broker.groups.get(GROUP).members
    reader.commit(10)
    reader.close()
    partition = OffsetCommitRequestPartition(partition_index=0, committed_offset=3)
    topic = OffsetCommitRequestTopic(name=TOPIC, partitions=[partition])
    with MessageClient(broker.bootstrap_servers) as late:
        commit = OffsetCommitRequest(
            group_id=GROUP, member_id=member.member_id, generation_id_or_member_epoch=1, topics=[topic]
        )
        late.call(commit, 9)

    finding = the_finding(verdict_of(broker))

    assert (finding.kind, finding.cause, finding.offsets) == ("stale_member_committed", "refused", [3, 3])
    assert (finding.member, finding.error) == (member.member_id, "UNKNOWN_MEMBER_ID")
