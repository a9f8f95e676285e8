"""Faults that stay while the program runs: it must report an error or go on trying, and not success."""

from collections.abc import Callable
from contextlib import closing
from functools import partial

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from fauxka.testing import Broker, hunt, report_text
from fauxka.testing.hunting.arguments import How
from fauxka.testing.hunting.judgement import Outcome

from ..clients.aiokafka_client import aiokafka
from .programs import QUICK, book, fill, idempotent, send
from .test_faults_in_programs import judged

STAYING = (
    *("broker down for ever", "NOT_ENOUGH_REPLICAS for ever"),
    *("partition without a leader", "TOPIC_AUTHORIZATION_FAILED for ever"),
)
AT_PRODUCE = pytest.mark.parametrize("fault", STAYING[:-1])


def flush_shortly(broker: Broker, *, is_checked: bool) -> None:
    """Send an event, and wait for its acknowledgement as long as without a fault. Raises RuntimeError without one."""
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True, **QUICK})
    producer.produce("orders", b"a")
    left = producer.flush(3)
    if is_checked and left:
        raise RuntimeError("the order was not sent")


@AT_PRODUCE
@pytest.mark.parametrize(("is_checked", "outcome"), [(False, Outcome.BROKEN), (True, Outcome.ERROR)])
def test_a_program_that_stops_to_wait_has_lost_what_it_does_not_report(
    fault: str, outcome: Outcome, *, is_checked: bool
) -> None:
    program = partial(flush_shortly, is_checked=is_checked)

    judgement = judged(f"{fault}: Produce to orders-0", program, topics=["orders"])

    assert judgement.outcome is outcome
    assert judgement.kinds == (set() if is_checked else {"missing"})


async def send_with_aiokafka(broker: Broker) -> None:
    """Send an event. Raises aiokafka's KafkaError."""
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, request_timeout_ms=4000)
    await producer.start()
    try:
        await producer.send_and_wait("orders", b"a")
    finally:
        await producer.stop()


def give_up_soon(broker: Broker) -> None:
    """Send events for four seconds at most. Raises RuntimeError if one was not acknowledged."""
    send(broker, [b"a", b"b", b"c"], **{"message.timeout.ms": 4000, "enable.idempotence": True})


PROGRAMS: list[tuple[Callable[[Broker], object], str]] = [
    (idempotent, "exactly-once"),
    (give_up_soon, "at-least-once"),
    (send_with_aiokafka, "at-least-once"),
]


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("program", "promise"), PROGRAMS, ids=["waits", "gives up", "aiokafka"])
@pytest.mark.hunt
def test_a_program_that_waits_or_reports_is_not_accused(program: Callable[[Broker], object], promise: str) -> None:
    result = hunt(program, topics=["orders"], expect=promise, only=STAYING, timeout_seconds=12, budget=4, jobs=4)

    assert not result.findings, report_text(result)
    outcomes = {each.judgement.outcome for each in result.tried}
    assert outcomes <= {Outcome.WAITING, Outcome.ERROR}, report_text(result)


def leader_of(broker: Broker) -> tuple[int, int]:
    """Return the leader of the partition in the metadata, and its error code."""
    client = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    (partition,) = client.list_topics("orders", timeout=20).topics["orders"].partitions.values()
    return partition.leader, partition.error.code() if partition.error else KafkaError.NO_ERROR


def send_or_fail(broker: Broker) -> None:
    """Send an event. Raises RuntimeError."""
    send(broker, [b"a"], **{"message.timeout.ms": 3000})


def read_or_fail(broker: Broker) -> None:
    """Read an event as a member of a group, and commit it. Raises RuntimeError without one."""
    config = {"group.id": "read", "auto.offset.reset": "earliest"}
    with closing(Consumer({"bootstrap.servers": broker.bootstrap_servers, **config, **QUICK})) as consumer:
        consumer.subscribe(["orders"])
        message = consumer.poll(3)
        if message is None or message.error() is not None:
            raise RuntimeError("no order came")
        consumer.commit(message=message, asynchronous=False)


@pytest.mark.parametrize(
    ("request_", "program", "how"),
    [
        ("Produce to orders-0", send_or_fail, How(topics=["orders"], restarts=1)),
        ("Fetch", read_or_fail, How(groups=["read"], prepare=fill, restarts=1)),
    ],
    ids=["Produce", "Fetch"],
)
def test_a_partition_without_a_leader_has_none_in_the_metadata_until_the_program_is_started_again(
    request_: str, program: Callable[[Broker], object], how: How
) -> None:
    seen: list[tuple[int, int]] = []

    def watched(broker: Broker) -> None:
        try:
            program(broker)
        finally:
            seen.append(leader_of(broker))

    judgement = judged(f"partition without a leader: {request_}", watched, **how)

    assert judgement.outcome is Outcome.HELD
    assert seen[-2:] == [(-1, KafkaError.LEADER_NOT_AVAILABLE), (1, KafkaError.NO_ERROR)]


@pytest.mark.parametrize(
    ("creates", "outcome"), [("true", Outcome.HELD), pytest.param("false", Outcome.ERROR, marks=pytest.mark.hunt)]
)
def test_what_was_written_before_its_topic_was_deleted_is_not_missing(creates: str, outcome: Outcome) -> None:
    how = How(topics=["orders"], config={"auto.create.topics.enable": creates}, seed_topics={"orders": 1})

    assert judged("topic deleted: Produce 2 of 3 to orders-0", give_up_soon, **how).outcome is outcome


def test_an_event_for_a_deleted_topic_is_missing_if_it_is_reported_to_nobody() -> None:
    def program(broker: Broker) -> None:
        try:
            send(broker, [b"a", b"b"], **{"message.timeout.ms": 1500})
        except RuntimeError:
            return

    how = How(topics=["orders"], config={"auto.create.topics.enable": "false"}, seed_topics={"orders": 1})
    judgement = judged("topic deleted: Produce 2 of 2 to orders-0", program, **how)

    assert judgement.kinds == {"missing"}
    assert judgement.reasons[0] == "orders: 1 event ('b') missing"


def book_and_ignore(broker: Broker) -> None:
    """Write an event in a transaction, and report no error."""
    try:
        book(broker, attempts=1)
    except KafkaException:
        return


@pytest.mark.parametrize(
    ("program", "outcome"), [(book_and_ignore, Outcome.BROKEN), (partial(book, attempts=2), Outcome.HELD)]
)
def test_a_transaction_ends_while_the_broker_is_down_for_an_hour(
    program: Callable[[Broker], object], outcome: Outcome
) -> None:
    judgement = judged("broker down for an hour: EndTxn of book", program, topics=["orders"])

    assert judgement.outcome is outcome
