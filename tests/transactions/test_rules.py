"""Fault rules with a transactional id or a group id apply to the requests of these only, with each client."""

import sys
from collections.abc import Callable, Iterator, Sequence

import pytest

from fauxka.testing import Broker

from ..clients.java_program import FOLDER
from ..reference.kafka_process import reference_jars
from .piped_program import PipedProgram

TOPIC, GROUP = "records", "copiers"


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as started:
        yield started


@pytest.fixture(
    params=[pytest.param("confluent", marks=pytest.mark.clients), pytest.param("java", marks=pytest.mark.java)]
)
def program(request: pytest.FixtureRequest) -> Sequence[str]:
    if request.param == "java":
        return ("java", "-cp", f"{reference_jars()}/*", str(FOLDER / "TransactionalProgram.java"))
    return (sys.executable, "-m", "tests.transactions.confluent_program")


@pytest.fixture
def begin(broker: Broker, program: Sequence[str]) -> Iterator[Callable[[str], PipedProgram]]:
    """Return a function that starts a producer with an open transaction of one record."""
    started: list[PipedProgram] = []

    def begin(transactional_id: str) -> PipedProgram:
        producer = PipedProgram([*program, broker.bootstrap_servers, transactional_id])
        started.append(producer)
        producer.do("init")
        producer.do("begin")
        producer.do("send", topic=TOPIC, values=[transactional_id])
        return producer

    yield begin
    for each in started:
        each.close()


def test_end_txn_of_one_id_is_rejected_once_and_retried(broker: Broker, begin: Callable[[str], PipedProgram]) -> None:
    mine, other = begin("rule-mine"), begin("rule-other")
    rule = broker.faults.refuse("CONCURRENT_TRANSACTIONS", api="EndTxn", transactional_id="rule-mine")

    other.do("commit")
    hits_of_other = rule.hits
    mine.do("commit")

    assert (hits_of_other, rule.hits) == (0, 1)


def test_end_txn_with_a_lost_response_is_retried_and_the_transaction_ends_once(
    broker: Broker, begin: Callable[[str], PipedProgram]
) -> None:
    producer = begin("rule-lost")
    rule = broker.faults.lost_ack(how="close", api="EndTxn", transactional_id="rule-lost")

    producer.do("commit")

    assert rule.hits == 1
    assert producer.do("read", topic=TOPIC, isolation="read_committed").count("rule-lost") == 1


def test_offsets_of_one_group_are_rejected_once_and_committed_by_the_retry(
    broker: Broker, begin: Callable[[str], PipedProgram]
) -> None:
    producer = begin("rule-offsets")
    rule = broker.faults.refuse("COORDINATOR_LOAD_IN_PROGRESS", api="TxnOffsetCommit", group_id=GROUP)
    of_nobody = broker.faults.refuse("COORDINATOR_LOAD_IN_PROGRESS", api="TxnOffsetCommit", group_id="nobody")

    producer.do("offsets", group=GROUP, topic=TOPIC, offset=4)
    producer.do("commit")

    assert (rule.hits, of_nobody.hits) == (1, 0)
    assert producer.do("committed", group=GROUP, topic=TOPIC) == 4


def test_produce_of_one_id_is_rejected_once_and_retried(broker: Broker, begin: Callable[[str], PipedProgram]) -> None:
    producer = begin("rule-writes")
    rule = broker.faults.refuse("NOT_LEADER_OR_FOLLOWER", api="Produce", transactional_id="rule-writes")

    producer.do("send", topic=TOPIC, values=["again"])
    producer.do("commit")

    assert rule.hits == 1
    assert producer.do("read", topic=TOPIC, isolation="read_committed").count("again") == 1
