"""Situations with the Java client, where clients differ most: an eager rebalance, a lost member, share groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from typing import Any

import pytest

from fauxka.testing import Broker

from ..client import eventually
from ..group_readers import CONFIGS, TOPIC, Reader
from ..java_program import JavaProgram
from .situation import GROUP, SESSION_PASSED_MS, Found, append, assert_clean, assert_finds, verdict_of
from .test_rebalances import close, rebalance
from .test_share_groups import LOCK_PASSED_MS

pytestmark = pytest.mark.java

START_MS_MAX = 60_000
ASSIGNORS = "org.apache.kafka.clients.consumer"


class JavaError(Exception):
    """An exception of the Java client."""


class JavaReader(Reader):
    """KafkaConsumer, or KafkaShareConsumer, by GroupReaders.java."""

    error = JavaError
    _numbers = count()

    def __init__(
        self,
        program: JavaProgram,
        bootstrap: str,
        group: str,
        *,
        client_id: str = "worker",
        call: str = "open",
        **configs: Any,
    ) -> None:
        self._program, self._name = program, f"reader-{next(self._numbers)}"
        config = {"bootstrap_servers": bootstrap, "group_id": group, "client_id": client_id, **configs}
        properties = {name.replace("_", "."): value for name, value in config.items()}
        self._call(call, topic=TOPIC, properties=properties)

    def _call(self, call: str, **arguments: object) -> Any:
        answer = self._program.ask({"reader": self._name, "call": call, **arguments})
        if "error" in answer:
            raise JavaError(answer["error"])
        return answer["result"]

    def receive(self, wait_ms: int, most: int) -> list[tuple[int, int]]:
        del most
        return [(partition, offset) for partition, offset in self._call("poll", wait_ms=wait_ms)]

    def commit(self, offset: int, partition: int = 0) -> None:
        self._call("commit", offset=offset, partition=partition)

    def seek(self, offset: int) -> None:
        raise NotImplementedError

    def accept(self) -> None:
        """Accept all records that a share consumer has read."""
        self._call("accept")

    def kill(self) -> None:
        """End without leaving the group."""
        self._is_closed = True
        self._call("kill")

    def resubscribe(self) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        self._call("close")


MakeJavaReader = Callable[..., JavaReader]


@pytest.fixture(scope="module")
def program(shared: Broker) -> Iterator[JavaProgram]:
    """The readers, in one virtual machine that has loaded the client: the patience of a test is too short for that."""
    started = JavaProgram("GroupReaders")
    shared.topics.create(TOPIC, partitions=1)
    append(shared, 1)
    reader = JavaReader(started, shared.bootstrap_servers, "first", **CONFIGS)
    assert reader.receive(START_MS_MAX, 1) == [(0, 0)]
    reader.close()
    yield started
    started.close()


@pytest.fixture
def make_reader(program: JavaProgram) -> Iterator[MakeJavaReader]:
    """Makes readers, which are closed at the end of a test that has failed before it closed them."""
    with ExitStack() as stack:

        def make(bootstrap: str, group: str, **options: Any) -> JavaReader:
            reader = JavaReader(program, bootstrap, group, **options)
            stack.callback(reader.close)
            return reader

        yield make


@pytest.fixture
def make_eager(make_reader: MakeJavaReader) -> MakeJavaReader:
    """Makes readers that give all partitions back in a rebalance."""
    return partial(make_reader, **CONFIGS, partition_assignment_strategy=f"{ASSIGNORS}.RangeAssignor")


@pytest.fixture
def make_new(make_reader: MakeJavaReader) -> MakeJavaReader:
    """Makes readers of the consumer protocol (KIP-848)."""
    configs = {name: value for name, value in CONFIGS.items() if name != "heartbeat_interval_ms"}
    return partial(make_reader, **configs, group_protocol="consumer")


@pytest.fixture
def members(share_broker: Broker, make_reader: MakeJavaReader) -> tuple[JavaReader, JavaReader]:
    """Two members of a share group, of which the first one has read all ten records."""
    first, second = (
        make_reader(share_broker.bootstrap_servers, GROUP, call="open_share", share_acknowledgement_mode="explicit")
        for _ in range(2)
    )
    first.read(10)
    return first, second


def test_eager_rebalance_before_the_commit_delivers_again(two_partitions: Broker, make_eager: MakeJavaReader) -> None:
    first, second, moved = rebalance(two_partitions, make_eager, committed=4)
    close(first, second)

    # An eager rebalance takes the other partition from its member, too, and gives it back.
    found = [
        (each.cause, each.offsets)
        for each in verdict_of(two_partitions).findings
        if each.kind == "delivered_twice" and each.partition == moved
    ]
    assert found == [("rebalance_before_commit", [4, 9])]


def test_eager_rebalance_after_the_commit_is_clean(two_partitions: Broker, make_eager: MakeJavaReader) -> None:
    first, second, moved = rebalance(two_partitions, make_eager, committed=10)
    first.commit(11, 1 - moved)
    second.commit(11, moved)
    close(first, second)

    assert_clean(verdict_of(two_partitions))


def test_member_that_exceeds_the_poll_interval_gives_that_as_its_reason(
    broker: Broker, make_eager: MakeJavaReader
) -> None:
    slow = make_eager(broker.bootstrap_servers, GROUP, max_poll_interval_ms=1_000)
    slow.read(10)
    assert eventually(lambda: len(broker.groups.get(GROUP).members), expected=0) == 0
    slow.read(10)
    slow.commit(10)
    slow.close()

    why = "which left the group (consumer poll timeout has expired.) and joined again, and nothing was committed"
    assert_finds(verdict_of(broker), Found("delivered_twice", "rejoin_before_commit", 0, 9, why))


def test_member_of_the_consumer_protocol_that_is_lost_before_its_commit(
    broker: Broker, make_new: MakeJavaReader
) -> None:
    lost = make_new(broker.bootstrap_servers, GROUP, client_id="lost")
    lost.read(10)
    lost.kill()
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
    second = make_new(broker.bootstrap_servers, GROUP, client_id="second")
    second.read(10)
    second.commit(10)
    second.close()

    assert_finds(
        verdict_of(broker), Found("delivered_twice", "rebalance_before_commit", 0, 9, "when nothing was committed")
    )


def test_member_of_the_consumer_protocol_that_is_lost_after_its_commit_is_clean(
    broker: Broker, make_new: MakeJavaReader
) -> None:
    lost = make_new(broker.bootstrap_servers, GROUP, client_id="lost")
    lost.read(10)
    lost.commit(10)
    lost.kill()
    broker.clock.advance(SESSION_PASSED_MS, members="expire")
    append(broker, 1)
    second = make_new(broker.bootstrap_servers, GROUP, client_id="second")
    second.read(1)
    second.commit(11)
    second.close()

    assert_clean(verdict_of(broker))


def test_share_consumer_that_processes_for_longer_than_its_lock(
    share_broker: Broker, members: tuple[JavaReader, JavaReader]
) -> None:
    _, second = members
    share_broker.clock.advance(LOCK_PASSED_MS)
    second.read(10)
    second.accept()

    assert_finds(
        verdict_of(share_broker),
        Found("lock_ended", "lock_ended", 0, 9, "before their lock ended"),
        Found("delivered_twice", "lock_ended", 0, 9, "ended before it acknowledged them"),
    )


def test_share_consumer_that_accepts_before_its_lock_ends_is_clean(
    share_broker: Broker, members: tuple[JavaReader, JavaReader]
) -> None:
    first, second = members
    first.accept()
    share_broker.clock.advance(LOCK_PASSED_MS)
    append(share_broker, 1)
    assert second.read(1) == [10]
    second.accept()

    assert_clean(verdict_of(share_broker))
