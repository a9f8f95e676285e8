"""Applications of Kafka Streams in a group of the streams protocol (KIP-1071), on fauxka and on a real Kafka."""

from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from fauxka.testing import Broker

from ..reference.kafka_process import running_kafka
from ..wire.streams_member import coordinator
from .programs import Program, java_program
from .streams_instances import (
    APPLICATION,
    Output,
    configure_group,
    create_topics,
    instance,
    produce,
    wait_until,
)

pytestmark = [pytest.mark.ecosystem, pytest.mark.timeout(1800)]

CONFIG = {"group.streams.initial.rebalance.delay.ms": "0", "group.streams.min.session.timeout.ms": "1000"}
# The first release with static members in streams groups.
KAFKA_VERSION = "4.4.0"
PARTITIONS, CUSTOMERS = 4, 20
TASKS = {f"0_{index}" for index in range(PARTITIONS)}
EXACTLY_ONCE = {"processing.guarantee": "exactly_once_v2"}


def orders(count: int, first: int = 0) -> list[tuple[str, str]]:
    """Return orders of the customers in turn."""
    return [(f"customer {number % CUSTOMERS}", f"order {number}") for number in range(first, first + count)]


def counted(count: int) -> dict[str, str]:
    """Return how many orders of each customer there are among the first ones."""
    counts = Counter(customer for customer, _ in orders(count))
    return {customer: str(number) for customer, number in counts.items()}


@pytest.fixture(scope="module", params=["4.3.1", "4.4.0"])
def application(request: pytest.FixtureRequest) -> Program:
    return java_program("streams_groups", "Application", str(request.param))


@contextmanager
def kafka(folder: Path) -> Generator[str, None, None]:
    with running_kafka(folder / "kafka.log", CONFIG, version=KAFKA_VERSION) as address:
        yield address


@pytest.fixture(params=["fauxka", "three nodes", "Kafka"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[str, None, None]:
    if request.param == "Kafka":
        with kafka(tmp_path) as address:
            yield address
        return
    nodes = 3 if request.param == "three nodes" else 1
    with Broker({**CONFIG, "default.replication.factor": str(nodes)}, nodes=nodes) as broker:
        yield broker.bootstrap_servers


def test_state_is_restored_from_its_changelog(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    produce(address, "orders", orders(200))
    with Output(address, "counted") as output:
        with instance(application, tmp_path / "a", address, "counts") as first:
            first.wait_until(lambda: output.values() == counted(200))

        with instance(application, tmp_path / "b", address, "counts") as second:
            produce(address, "orders", orders(100, 200))
            second.wait_until(lambda: output.values() == counted(300))
            restored = second.get("restored")

    assert restored == "200"
    assert len(output.records) == 300


def test_output_is_exactly_once_after_two_kills(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    configure_group(address, session_timeout_ms="6000")
    settings = {**EXACTLY_ONCE, "transaction.timeout.ms": "5000"}
    with Output(address, "counted") as output:
        for first in (0, 200):
            produce(address, "orders", orders(200, first))
            with instance(application, tmp_path / "a", address, "regrouped", settings) as killed:
                # Most often in the middle of a transaction.
                killed.wait_until(partial(output.has_more_than, first + 20))
                killed.kill()
        with instance(application, tmp_path / "a", address, "regrouped", settings) as last:
            expected = {f"customer {customer}": count for customer, count in counted(400).items()}
            last.wait_until(lambda: output.values() == expected)

    by_customer: dict[str, list[int]] = {}
    for customer, count in output.records:
        by_customer.setdefault(customer, []).append(int(count))
    assert by_customer == {customer: list(range(1, int(count) + 1)) for customer, count in expected.items()}


def test_windows_are_counted_once_when_they_close(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": 1, "counted": 1})
    produce(address, "orders", [("a", "1"), ("a", "2"), ("b", "3"), ("a", "4")], [1_000, 2_000, 9_000, 12_000])
    with Output(address, "counted") as output, instance(application, tmp_path / "a", address, "windows") as windows:
        # The time of a stream is that of its records: this one closes the windows before.
        produce(address, "orders", [("c", "5")], [60_000])
        windows.wait_until(lambda: len(output.values()) == 3)

    assert sorted(output.records) == [("a at 0", "2"), ("a at 10000", "1"), ("b at 0", "1")]


def test_stream_is_joined_with_a_table(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "customers": PARTITIONS, "joined": 1})
    produce(address, "customers", [("a", "Ann"), ("b", "Bob")], [1, 2])
    produce(address, "orders", [("a", "pen"), ("b", "ink"), ("c", "cap"), ("a", "nib")], [3, 4, 5, 6])
    with Output(address, "joined") as output, instance(application, tmp_path / "a", address, "table") as joins:
        joins.wait_until(partial(output.has_more_than, 2))

    assert sorted(output.records) == [("a", "nib of Ann"), ("a", "pen of Ann"), ("b", "ink of Bob")]


def test_tables_are_joined_by_a_foreign_key(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "customers": PARTITIONS, "joined": 1})
    produce(address, "customers", [("a", "Ann"), ("b", "Bob")])
    produce(address, "orders", [("1", "a pen"), ("2", "b ink"), ("3", "a nib")])
    with Output(address, "joined") as output, instance(application, tmp_path / "a", address, "foreign key") as joins:
        joins.wait_until(lambda: len(output.values()) == 3)
        produce(address, "customers", [("a", "Amy")])
        joins.wait_until(lambda: output.values()["1"] == "a pen of Amy" and output.values()["3"] == "a nib of Amy")

    assert dict(output.records) == {"1": "a pen of Amy", "2": "b ink of Bob", "3": "a nib of Amy"}


def test_each_instance_finds_the_one_that_has_a_key(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    produce(address, "orders", orders(200))
    with ExitStack() as stack:
        instances = [
            stack.enter_context(instance(application, tmp_path / name, address, "counts")) for name in ("a", "b")
        ]
        wait_until(lambda: all(len(each.active) == PARTITIONS // 2 for each in instances))
        for each in instances:
            wait_until(partial(each.has_values, counted(200)))


def test_standby_takes_over_without_restoring(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    configure_group(address, num_standby_replicas="1", session_timeout_ms="6000")
    produce(address, "orders", orders(400))
    with Output(address, "counted") as output, ExitStack() as stack:
        first, second = (
            stack.enter_context(instance(application, tmp_path / name, address, "counts")) for name in ("a", "b")
        )
        wait_until(lambda: first.active | second.active == TASKS and first.standby == second.active)
        wait_until(lambda: second.standby == first.active and output.values() == counted(400))
        # A table answers when it is restored.
        wait_until(lambda: second.get("lag") == "0" and second.has_values(counted(400)))
        before = int(second.get("restored"))
        first.kill()
        wait_until(lambda: second.active == TASKS)
        produce(address, "orders", orders(100, 400))
        wait_until(lambda: output.values() == counted(500))
        restored = int(second.get("restored")) - before

    assert restored == 0


def test_tasks_are_shared_when_instances_come_and_go(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    produce(address, "orders", orders(100))
    with Output(address, "counted") as output, instance(application, tmp_path / "a", address, "counts") as first:
        with (
            instance(application, tmp_path / "b", address, "counts") as second,
            instance(application, tmp_path / "c", address, "counts") as third,
        ):
            instances = (first, second, third)
            wait_until(lambda: sorted(len(each.active) for each in instances) == [1, 1, 2])
            wait_until(lambda: {task for each in instances for task in each.active} == TASKS)
            produce(address, "orders", orders(100, 100))
            wait_until(lambda: output.values() == counted(200))
        wait_until(lambda: first.active == TASKS)
        produce(address, "orders", orders(100, 200))
        wait_until(lambda: output.values() == counted(300))


@pytest.mark.parametrize("application", [KAFKA_VERSION], indirect=True)
def test_static_member_keeps_its_tasks_over_a_restart(application: Program, address: str, tmp_path: Path) -> None:
    create_topics(address, {"orders": PARTITIONS, "counted": 1})
    produce(address, "orders", orders(100))
    with (
        Output(address, "counted") as output,
        instance(application, tmp_path / "b", address, "counts", {"group.instance.id": "b"}) as other,
    ):
        with instance(application, tmp_path / "a", address, "counts", {"group.instance.id": "a"}) as first:
            wait_until(lambda: len(first.active) == len(other.active) == PARTITIONS // 2)
            before = (first.active, other.active)
        with instance(application, tmp_path / "a", address, "counts", {"group.instance.id": "a"}) as again:
            wait_until(lambda: bool(again.active))
            produce(address, "orders", orders(100, 100))
            wait_until(lambda: output.values() == counted(200))
            after = (again.active, other.active)

    assert after == before


def test_application_goes_on_after_its_coordinator_was_killed(application: Program, tmp_path: Path) -> None:
    config = {**CONFIG, "default.replication.factor": "3", "min.insync.replicas": "2"}
    with Broker(config, nodes=3) as broker:
        address = broker.bootstrap_servers
        create_topics(address, {"orders": PARTITIONS, "counted": 1})
        with (
            Output(address, "counted") as output,
            instance(application, tmp_path / "a", address, "regrouped", EXACTLY_ONCE) as running,
        ):
            produce(address, "orders", orders(200))
            running.wait_until(lambda: len(output.values()) == CUSTOMERS)
            broker.stop_node(coordinator(address, APPLICATION).node_id, controlled=False, noticed=True)
            produce(address, "orders", orders(200, 200))
            expected = {f"customer {customer}": count for customer, count in counted(400).items()}
            running.wait_until(lambda: output.values() == expected)

    assert len(output.records) == 400
