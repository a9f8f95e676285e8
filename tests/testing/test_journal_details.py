"""What the journal tells of the consumers of three clients: ranges that were read, offsets, assignments, times."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from fauxka.faults.journal.journal_entries import JournalEntry
from fauxka.testing import Broker

from ..broker.topic_client import TopicClient
from ..clients.aiokafka_client import AiokafkaClient
from ..clients.client import Client
from ..clients.client_contract import read_until
from ..clients.confluent_client import ConfluentClient
from ..clients.kafka_python_client import KafkaPythonClient
from ..clients.records import thousand_records

GROUP, TOPIC, PARTITIONS = "billing", "orders", 3
DRIVERS: list[Callable[[str], Client]] = [ConfluentClient, AiokafkaClient, KafkaPythonClient]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture(params=DRIVERS, ids=lambda driver: driver.__name__)
def consumed(request: pytest.FixtureRequest, broker: Broker) -> list[JournalEntry]:
    """Return the requests of a client whose group has read a thousand records and committed."""
    broker.reset()
    broker.topics.create(TOPIC, partitions=PARTITIONS)
    client: Client = request.param(broker.bootstrap_servers)
    try:
        client.produce(TOPIC, thousand_records())
        member = client.join(GROUP, TOPIC)
        read_until([member], 1000)
        member.commit()
        member.close()
    finally:
        client.close()
    return broker.journal.entries()


def test_ranges_cover_each_record_once_and_the_commit_ends_with_them(consumed: list[JournalEntry]) -> None:
    read = {partition: [0] for partition in range(PARTITIONS)}
    high_watermarks: dict[int, int] = {}
    for entry in consumed:
        for each in entry.fetch.partitions if entry.fetch is not None and entry.answered else []:
            if each.first_offset is not None and each.last_offset is not None:
                assert (each.topic, each.fetch_offset) == (TOPIC, read[each.partition][-1])
                assert each.first_offset <= read[each.partition][-1] <= each.last_offset
                read[each.partition].append(each.last_offset + 1)
            if each.high_watermark is not None:
                high_watermarks[each.partition] = each.high_watermark

    committed = {
        each.partition: each.offset
        for entry in consumed
        if entry.api == "OffsetCommit" and entry.offsets is not None
        for each in entry.offsets.offsets
    }

    ends = {partition: offsets[-1] for partition, offsets in read.items()}
    assert ends == high_watermarks == committed
    assert sum(ends.values()) == 1000


def test_member_of_the_group_is_the_same_in_each_request(consumed: list[JournalEntry]) -> None:
    members = [entry.member for entry in consumed if entry.member is not None and entry.error is None]
    (commit, *_) = [entry.offsets for entry in consumed if entry.api == "OffsetCommit"]
    # kafka-python joins first without the partitions of the topic.
    (*_, sync) = [entry.member for entry in consumed if entry.api == "SyncGroup"]

    assert sync is not None
    assert sync.assignment is not None
    assert [(each.topic, sorted(each.partitions)) for each in sync.assignment] == [(TOPIC, [0, 1, 2])]
    assert commit is not None
    assert (commit.group_id, commit.member_id, commit.epoch) == (GROUP, sync.member_id, sync.epoch)
    assert {each.group_id for each in members} == {GROUP}


def test_every_response_has_its_time(consumed: list[JournalEntry]) -> None:
    written = [entry for entry in consumed if entry.answer == "written"]

    assert all(entry.took_ms is not None and entry.took_ms > 0 for entry in written)
    assert {entry.injected_ms for entry in consumed} == {0.0}


@pytest.fixture
def client(broker: Broker) -> Iterator[TopicClient]:
    broker.reset()
    with TopicClient(broker.bootstrap_servers) as connected:
        connected.create_topic("events")
        yield connected


@pytest.mark.parametrize("point", ["received", "applied", "answering"])
def test_delay_is_the_injected_part_of_the_time(point: str, broker: Broker, client: TopicClient) -> None:
    broker.faults.add(match={"api": "Produce"}, point=point, action={"kind": "delay", "ms": 60})

    client.produce(0)

    (entry,) = broker.journal.entries(api="Produce")
    assert entry.took_ms is not None
    # Timers end up to one millisecond early.
    assert 59 <= entry.injected_ms <= entry.took_ms


def test_hold_is_injected_until_its_release(broker: Broker, client: TopicClient) -> None:
    rule = broker.faults.held(topic="events")
    client.send_produce(0)
    rule.await_hits(1)
    waiting = broker.journal.entries(api="Produce")[0]
    threading.Event().wait(0.05)

    broker.held.release()
    client.receive_produced()

    (entry,) = broker.journal.entries(api="Produce")
    assert (waiting.took_ms, entry.took_ms is not None) == (None, True)
    assert entry.injected_ms >= 50


def test_injected_error_is_the_error_inside_the_response(broker: Broker, client: TopicClient) -> None:
    client.produce(0)
    broker.faults.add(
        match={"api": "Fetch"}, point="applied", action={"kind": "error", "error": "NOT_LEADER_OR_FOLLOWER"}
    )

    client.fetch()

    (entry,) = broker.journal.entries(error="NOT_LEADER_OR_FOLLOWER")
    assert entry.first_error is not None
    assert (entry.api, entry.first_error.topic, entry.first_error.partition) == ("Fetch", "events", 0)
    assert entry.fetch is not None
    assert entry.fetch.partitions[0].fetch_offset == 0
