"""What a test does to a group: rebalance it, wait until it is stable, set and delete its offsets, read its lag."""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from fauxka.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from fauxka.testing import CallError, InvalidValueError, WaitTimeoutError

from ..wire.message_client import MessageClient
from .transports import Broker

SECONDS_MAX = 30
TIMEOUT_MS = SECONDS_MAX * 1000
PROTOCOLS = pytest.mark.parametrize("protocol", ["classic", "consumer"])


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(
        {"num.partitions": 2, "group.initial.rebalance.delay.ms": 0, "group.share.assignment.interval.ms": 0}
    ) as running:
        running.topics.seed("orders", [{"partition": 0, "value": str(number)} for number in range(3)], create=True)
        yield running


class Member:
    """A consumer of orders that polls in a thread."""

    def __init__(self, broker: Broker, protocol: str) -> None:
        self.assigned: list[list[int]] = []
        self.values: list[bytes | None] = []
        self.has_received = threading.Event()
        options = {"heartbeat.interval.ms": 100} if protocol == "classic" else {}
        self._consumer = Consumer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "group.id": "readers",
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                **options,
            }
        )
        self._consumer.subscribe(["orders"], on_assign=self._on_assign)
        self._is_stopping = False
        self._thread = threading.Thread(target=self._poll)
        self._thread.start()

    def _on_assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self.assigned.append([each.partition for each in partitions])

    def _poll(self) -> None:
        while not self._is_stopping:
            message = self._consumer.poll(0.05)
            if message is not None and message.error() is None:
                self.values.append(message.value())
                self.has_received.set()
        self._consumer.close()

    def stop(self) -> None:
        self._is_stopping = True
        self._thread.join()


@contextmanager
def member(broker: Broker, protocol: str) -> Generator[Member]:
    """A member of the group `readers`, which is stable."""
    joined = Member(broker, protocol)
    try:
        broker.groups.wait_stable("readers", timeout_ms=TIMEOUT_MS)
        yield joined
    finally:
        joined.stop()


@pytest.mark.clients
def test_all_members_of_a_classic_group_join_again(broker: Broker) -> None:
    with member(broker, "classic") as joined:
        before = broker.journal.last_id

        rebalancing = broker.groups.rebalance("readers")

        stable = broker.groups.wait_stable("readers", timeout_ms=TIMEOUT_MS)
        broker.journal.assert_requests(api="JoinGroup", since=before)
        assert (rebalancing.state, stable.state, len(stable.members)) == ("PreparingRebalance", "Stable", 1)
        assert joined.assigned


@pytest.mark.clients
def test_consumer_group_gets_the_next_epoch_and_a_new_assignment(broker: Broker) -> None:
    with member(broker, "consumer"):
        (before,) = broker.groups.get("readers").members

        rebalancing = broker.groups.rebalance("readers")

        (after,) = broker.groups.wait_stable("readers", timeout_ms=TIMEOUT_MS).members
        assert rebalancing.state == "Assigning"
        assert before.epoch is not None
        assert (after.epoch, after.partitions) == (before.epoch + 1, {"orders": [0, 1]})


def share_heartbeat(client: MessageClient, epoch: int) -> int:
    request = ShareGroupHeartbeatRequest(
        group_id="sharers", member_id="m", member_epoch=epoch, subscribed_topic_names=None if epoch else ["orders"]
    )
    response = client.call(request, 1)
    return int(getattr(response, "member_epoch"))  # noqa: B009


def test_share_group_gets_the_next_epoch(broker: Broker) -> None:
    with MessageClient(broker.bootstrap_servers) as client:
        epoch = share_heartbeat(client, 0)

        state = broker.groups.rebalance("sharers").state

        assert (state, share_heartbeat(client, epoch)) == ("Stable", epoch + 1)


def test_group_without_members_does_not_rebalance(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 1})

    with pytest.raises(CallError, match=r"^classic group readers is Empty with no members: only a group") as raised:
        broker.groups.rebalance("readers")
    with pytest.raises(CallError, match="there is no group 'reader'") as unknown:
        broker.groups.rebalance("reader")
    assert (raised.value.status, unknown.value.status) == (409, 404)


@pytest.mark.clients
@PROTOCOLS
def test_wait_ends_when_the_group_is_stable_with_so_many_members(broker: Broker, protocol: str) -> None:
    with member(broker, protocol), member(broker, protocol):
        group = broker.groups.wait_stable("readers", 2, TIMEOUT_MS)

        assert sorted(index for each in group.members for index in (each.partitions or {})["orders"]) == [0, 1]


@pytest.mark.clients
def test_wait_that_ends_too_early_names_the_state_and_the_members(broker: Broker) -> None:
    with (
        member(broker, "classic"),
        pytest.raises(WaitTimeoutError, match=r"^readers is not Stable with 2 members after 20 ms: classic") as raised,
    ):
        broker.groups.wait_stable("readers", 2, 20)
    with pytest.raises(WaitTimeoutError, match="after 0 ms: there is no group others") as unknown:
        broker.groups.wait_stable("others", timeout_ms=0)

    assert "is Stable with 1 member, rdkafka-" in str(raised.value)
    assert (raised.value.hits, unknown.value.hits) == (1, 0)


@pytest.mark.clients
@PROTOCOLS
def test_members_begin_at_the_offsets_that_were_set(broker: Broker, protocol: str) -> None:
    offsets = broker.groups.set_offsets("readers", {("orders", 0): 2, ("orders", 1): 0})

    with member(broker, protocol) as joined:
        broker.groups.wait_stable("readers", timeout_ms=TIMEOUT_MS)
        joined.has_received.wait(SECONDS_MAX)
    assert [(each.partition, each.offset, each.lag) for each in offsets] == [(0, 2, 1), (1, 0, 0)]
    assert joined.values == [b"2"]


@pytest.mark.clients
@PROTOCOLS
def test_offsets_of_a_group_with_members_are_changed_by_force_only(broker: Broker, protocol: str) -> None:
    with member(broker, protocol):
        with pytest.raises(CallError, match=f"^{protocol} group readers is Stable with 1 member, ") as on_set:
            broker.groups.set_offsets("readers", {("orders", 0): 2})
        set_by_force = broker.groups.set_offsets("readers", {("orders", 0): 2}, force=True)
        with pytest.raises(CallError, match="it is subscribed to orders; force deletes") as on_delete:
            broker.groups.delete_offsets("readers", "orders")
        deleted = broker.groups.delete_offsets("readers", "orders", 0, force=True)

        assert (on_set.value.status, on_delete.value.status) == (409, 409)
        assert [each.offset for each in deleted] == [each.offset for each in set_by_force] == [2]
        assert broker.groups.get("readers").offsets == []


def test_offsets_of_one_partition_or_all_are_deleted(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 2, ("orders", 1): 0})

    one = broker.groups.delete_offsets("readers", "orders", 1)
    broker.groups.set_offsets("readers", {("orders", 1): 5})
    both = broker.groups.delete_offsets("readers")

    assert [each.partition for each in one] == [1]
    assert [(each.partition, each.offset) for each in both] == [(0, 2), (1, 5)]


def test_offsets_that_were_set_survive_a_restart(tmp_path: Path) -> None:
    with Broker(data_dir=tmp_path) as broker:
        broker.topics.create("orders", partitions=1)
        broker.groups.set_offsets("readers", {("orders", 0): 7})

        broker.crash()
        broker.restart()

        assert [each.offset for each in broker.groups.get("readers").offsets] == [7]


def test_group_of_three_nodes_has_its_offsets_set_and_is_awaited() -> None:
    with Broker({"offsets.topic.num.partitions": 3}, nodes=3) as broker:
        broker.topics.create("orders", partitions=1)

        for name in ("a", "b", "c"):
            broker.groups.set_offsets(name, {("orders", 0): 7})

        assert [(each.group_id, each.offsets[0].offset) for each in broker.groups.list()] == [
            ("a", 7),
            ("b", 7),
            ("c", 7),
        ]


@pytest.mark.parametrize(
    ("offsets", "status", "message"),
    [
        ({("ordres", 0): 1}, 404, "there is no topic 'ordres'; did you mean orders"),
        ({("orders", 2): 1}, 404, "there is no partition 2 of orders"),
    ],
)
def test_offset_of_an_unknown_partition_is_refused(
    broker: Broker, offsets: dict[tuple[str, int], int], status: int, message: str
) -> None:
    with pytest.raises(CallError, match=message) as raised:
        broker.groups.set_offsets("readers", offsets)
    assert raised.value.status == status
    assert broker.groups.list() == []


@pytest.mark.parametrize("offsets", [{"orders": 1}, {("orders", 0): -1}, {}, None])
def test_invalid_offsets_are_refused(broker: Broker, offsets: dict[tuple[str, int], int]) -> None:
    with pytest.raises(InvalidValueError, match=r"offsets"):
        broker.groups.set_offsets("readers", offsets)


def test_partition_without_a_topic_is_refused(broker: Broker) -> None:
    broker.groups.set_offsets("readers", {("orders", 0): 1})

    with pytest.raises(InvalidValueError, match="partition is given without topic"):
        broker.groups.delete_offsets("readers", partition=0)


def test_share_group_has_no_committed_offsets(broker: Broker) -> None:
    with MessageClient(broker.bootstrap_servers) as client:
        share_heartbeat(client, 0)

        with pytest.raises(CallError, match="only classic and consumer groups have committed offsets") as raised:
            broker.groups.set_offsets("sharers", {("orders", 0): 1}, force=True)
    assert raised.value.status == 409


@pytest.mark.clients
@PROTOCOLS
def test_lag_has_the_partitions_that_are_assigned_and_those_with_an_offset(broker: Broker, protocol: str) -> None:
    with member(broker, protocol):
        broker.groups.set_offsets("readers", {("orders", 0): 1}, force=True)

        lag = broker.groups.lag("readers")

    assert (lag.group_id, lag.total) == ("readers", 2)
    assert [
        (each.topic, each.partition, each.committed, each.log_end_offset, each.last_stable_offset, each.lag)
        for each in lag.partitions
    ] == [("orders", 0, 1, 3, 3, 2), ("orders", 1, None, 0, 0, None)]


def test_unknown_group_has_no_lag(broker: Broker) -> None:
    with pytest.raises(CallError, match="there is no group 'readers'"):
        broker.groups.lag("readers")
