"""The programs of tests/ecosystem that are hunted: what each does in a trial, and what it promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fauxka.testing import Broker
from fauxka.testing.hunting.arguments import How

from ...ecosystem.connect_workers import failures_of, rest_address, settings_of, start_connector
from ...ecosystem.programs import (
    ORDERS,
    committed_offset,
    committed_values,
    java_program,
    python_program,
    seed_json_orders,
    seed_orders,
)
from .kept_programs import KeptPrograms
from .starts import LOG_BYTES_MAX, Processes, ProgramEnded, Startable, wait_until_done

# A run of these programs takes long, and sends many kinds of requests: a short hunt tries these faults only.
FEW_FAULTS = (
    *("lost acknowledgement", "lost request", "crash after it was applied", "crash before it was applied"),
    *("producers fenced", "producers expired", "transactions expired", "members expired", "broker down for an hour"),
    *("TRANSACTION_ABORTABLE", "NOT_COORDINATOR", "NOT_LEADER_OR_FOLLOWER", "TOPIC_AUTHORIZATION_FAILED"),
    *("NOT_ENOUGH_REPLICAS_AFTER_APPEND although it was applied", "REQUEST_TIMED_OUT although it was applied"),
)
# Long enough that all orders are in the first transaction. Flink gives each checkpoint a transactional id of its own.
CHECKPOINT_MS = "10000"
REPARTITION = "counters-counts-repartition"
FAILED_TASK = "will not recover until manually restarted"
MIRROR_OFFSETS = "mm2-offsets.primary.internal"


@dataclass(frozen=True, slots=True)
class Other:
    """A program to hunt.

    version: with the name. install: installs it. run: runs it once, until its work is done, with a broker and with the
    folder of the trial. how: of the hunt. check: of what it has left; None to compare the topics only.
    """

    version: str
    install: Callable[[], Startable]
    run: Callable[[Startable, Broker, Path], None]
    how: How
    check: Callable[[Broker], object] | None = None


def has_read_orders(broker: Broker, group: str) -> bool:
    """Return whether a group has committed all orders."""
    return committed_offset(broker, group, "orders") == ORDERS


def count_orders(guarantee: str) -> Callable[[Startable, Broker, Path], None]:
    """Return the run of quixstreams with a processing guarantee."""

    def run(counters: Startable, broker: Broker, folder: Path) -> None:
        with counters.started(folder, broker.bootstrap_servers, str(folder), guarantee) as started:
            wait_until_done(started, lambda: has_read_orders(broker, "counters"))

    return run


def bill_orders(group: str) -> Callable[[Startable, Broker, Path], None]:
    """Return the run of a program that needs the address of the broker only, and reads the orders as a group."""

    def run(billing: Startable, broker: Broker, folder: Path) -> None:
        with billing.started(folder, broker.bootstrap_servers) as started:
            wait_until_done(started, lambda: has_read_orders(broker, group))

    return run


def check_bills_or_dead_letters(broker: Broker) -> None:
    """Raise AssertionError for an order that has neither a bill nor a dead letter.

    An order that cannot be billed, such as one without the right to write bills, is a dead letter and is not lost.
    """
    topics = {each.topic for each in broker.partitions()}
    values = [
        value for topic in ("bills", "orders-dlt") if topic in topics for value in committed_values(broker, topic)
    ]
    found = {(value or b"").removeprefix(b"bill for ") for value in values}
    missing = {b"order %d" % number for number in range(ORDERS)} - found
    assert not missing, f"neither billed nor dead: {sorted(missing)}"


def count_with_streams(group_protocol: str) -> Callable[[Startable, Broker, Path], None]:
    """Return the run of Kafka Streams until it has committed the offsets of both of its topics."""

    def run(counters: Startable, broker: Broker, folder: Path) -> None:
        with counters.started(folder, broker.bootstrap_servers, str(folder / "state"), group_protocol) as started:
            wait_until_done(
                started, lambda: has_read_orders(broker, "counters") and has_read_all(broker, "counters", REPARTITION)
            )

    return run


def has_read_all(broker: Broker, group: str, topic: str) -> bool:
    """Return whether a group has committed the offset behind the last committed record of a topic."""
    stored = broker.records(topic)
    last = max(each.offset for each in stored if not each.is_control and each.transaction in ("none", "committed"))
    return (committed_offset(broker, group, topic) or 0) > last


def bill_with_flink(job: Startable, broker: Broker, folder: Path) -> None:
    """Run Flink until it has committed all offsets, and has no open transaction: both come with a checkpoint."""
    with job.started(folder, broker.bootstrap_servers, CHECKPOINT_MS) as started:
        wait_until_done(started, lambda: has_read_orders(broker, "billing") and not broker.transactions.list("Ongoing"))


def copy_file_with_connect(connect: Startable, broker: Broker, folder: Path) -> None:
    """Run a worker and its file source until the source has committed the offset of the end of its file.

    Raises ProgramEnded for a task that has failed, too: only an operator starts it again.
    """
    source = folder / "source"
    source.write_text("".join(f"order {number}\n" for number in range(ORDERS)))
    config = {
        "connector_class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "file": str(source),
        "topic": "orders",
        "exactly_once_support": "required",
    }
    settings = settings_of(connect.program, "worker.properties", folder, bootstrap__servers=broker.bootstrap_servers)
    with connect.started(folder, settings) as worker:
        wait_until_done(worker, lambda: rest_address(worker.log_file) is not None)
        address = rest_address(worker.log_file) or ""
        wait_until_done(worker, lambda: is_accepted(address, config))
        position = source.stat().st_size

        def is_done() -> bool:
            if failures := failures_of(address, "source"):
                raise ProgramEnded(failures[0])
            return committed_json(broker, "connect-offsets")[-1:] == [{"position": position}]

        wait_until_done(worker, is_done)


def is_accepted(address: str, config: Mapping[str, str]) -> bool:
    """Ask a worker for the connector, and return whether it has it and its status now."""
    try:
        start_connector(address, "source", **config)
        failures_of(address, "source")
    except OSError:
        return False
    return True


def copy_topic_with_mirror_maker(mirror: Startable, broker: Broker, folder: Path) -> None:
    """Run MirrorMaker, from another cluster to the broker, until it has committed the offset of the last order.

    Raises ProgramEnded for a task that has failed, as copy_file_with_connect does.
    """
    with Broker() as primary:
        seed_orders(primary)
        addresses = {
            "primary__bootstrap__servers": primary.bootstrap_servers,
            "backup__bootstrap__servers": broker.bootstrap_servers,
        }
        settings = settings_of(mirror.program, "mirror.properties", folder, **addresses)
        with mirror.started(folder, settings) as started:

            def is_done() -> bool:
                log = started.log_file.read_text(errors="replace")
                if FAILED_TASK in log:
                    raise ProgramEnded(log[-LOG_BYTES_MAX:])
                return {"offset": ORDERS - 1} in committed_json(broker, MIRROR_OFFSETS)

            wait_until_done(started, is_done)


def committed_json(broker: Broker, topic: str) -> Sequence[object]:
    """Return the committed values of a topic, decoded; none before it exists."""
    if all(each.topic != topic for each in broker.partitions()):
        return []
    return [json.loads(value) for value in committed_values(broker, topic) if value is not None]


def seed_orders_and(topic: str) -> Callable[[Broker], None]:
    """Return a function that seeds the orders, and creates the topic of the results."""

    def seed(broker: Broker) -> None:
        seed_orders(broker)
        broker.topics.create(topic, partitions=1)

    return seed


def python(name: str) -> Callable[[], Startable]:
    return lambda: Processes(python_program(name))


def java(name: str, main: str) -> Callable[[], Startable]:
    return lambda: KeptPrograms(java_program(name, main))


OTHERS = {
    "quixstreams": Other(
        "quixstreams 3.28.1, `at-least-once`",
        python("quixstreams"),
        count_orders("at-least-once"),
        How(topics=["counts"], prepare=seed_json_orders, expect="at-least-once"),
    ),
    "quixstreams-exactly-once": Other(
        "quixstreams 3.28.1, `exactly-once`",
        python("quixstreams"),
        count_orders("exactly-once"),
        How(topics=["counts"], prepare=seed_json_orders),
    ),
    "faststream": Other(
        "faststream 0.7.8, `NACK_ON_ERROR`",
        python("faststream"),
        bill_orders("bills"),
        How(topics=["bills"], prepare=seed_orders, expect="at-least-once"),
    ),
    "streams": Other(
        "Kafka Streams 4.3.0, `exactly_once_v2`",
        java("kafka_streams", "CountOrders"),
        count_with_streams("classic"),
        How(topics=["counts"], prepare=seed_orders_and("counts")),
    ),
    "streams-groups": Other(
        "Kafka Streams 4.3.0, `exactly_once_v2`, a streams group",
        java("kafka_streams", "CountOrders"),
        count_with_streams("streams"),
        How(
            topics=["counts"],
            prepare=seed_orders_and("counts"),
            # Each trial would wait for more members.
            config={"group.streams.initial.rebalance.delay.ms": 0},
        ),
    ),
    "spring": Other(
        "Spring for Apache Kafka 4.1.2, a transactional listener",
        java("spring_kafka", "BillOrders"),
        bill_orders("billing"),
        How(topics=["bills"], prepare=seed_orders),
    ),
    "spring-retry": Other(
        "Spring for Apache Kafka 4.1.2, `DefaultErrorHandler` with retries and a dead letter topic",
        java("spring_kafka", "RetryOrders"),
        bill_orders("billing"),
        How(prepare=seed_orders, expect="at-least-once"),
        check_bills_or_dead_letters,
    ),
    "connect": Other(
        "Kafka Connect 4.3.0, an exactly-once source",
        java("kafka_connect", "org.apache.kafka.connect.cli.ConnectDistributed"),
        copy_file_with_connect,
        How(topics=["orders"], only=FEW_FAULTS),
    ),
    "mirror-maker": Other(
        "MirrorMaker 2 4.3.0, exactly once",
        java("mirror_maker", "org.apache.kafka.connect.mirror.MirrorMaker"),
        copy_topic_with_mirror_maker,
        How(topics=["primary.orders"], only=FEW_FAULTS),
    ),
    "flink": Other(
        "Flink 2.2.0, a sink with `EXACTLY_ONCE`",
        java("flink", "BillOrders"),
        bill_with_flink,
        How(topics=["bills"], prepare=seed_orders_and("bills"), only=FEW_FAULTS),
    ),
}
