"""Transactions whose markers a rule holds: answered, decided at the coordinator, and open in the partitions."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from fauxka.faults.actions import HoldMarkers
from fauxka.faults.rule_error import RuleError
from fauxka.protocol.error_codes import ErrorCode

from ..broker.transactional_client import TransactionalClient
from .transports import Broker

pytestmark = pytest.mark.clients

SECONDS_MAX = 30
# Far more than a consumer needs for records that it may read.
NOTHING_COMES_SECONDS = 1.0
TOPIC = "events"


@pytest.fixture(params=[1, 3], ids=["one node", "three nodes"])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    with Broker({"default.replication.factor": request.param}, nodes=request.param) as running:
        running.topics.create(TOPIC, partitions=1)
        yield running


def open_transaction(broker: Broker, value: str = "tea") -> Producer:
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx", "log_level": 0}
    producer = Producer(settings)
    producer.init_transactions(SECONDS_MAX)
    producer.begin_transaction()
    producer.produce(TOPIC, value)
    producer.flush(SECONDS_MAX)
    return producer


def committed_value(broker: Broker, timeout: float = SECONDS_MAX) -> bytes | None:
    """Return the first value that a consumer with read_committed gets, or None after the timeout."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings, "isolation.level": "read_committed", "enable.auto.commit": False})
    consumer.subscribe([TOPIC])
    message = consumer.poll(timeout)
    consumer.close()
    return None if message is None else message.value()


def states(broker: Broker) -> list[tuple[bool, str]]:
    """Return of each record whether it is a marker, and the state of its transaction."""
    return [(each.is_control, each.transaction) for each in broker.records(TOPIC)]


def test_commit_is_answered_and_consumers_wait_for_the_markers(broker: Broker) -> None:
    producer = open_transaction(broker)
    with broker.faults.held_markers(transactional_id="tx") as rule:
        producer.commit_transaction(SECONDS_MAX)
        assert rule.hits == 1

    (held,) = broker.held.list()
    assert (held.kind, held.api, broker.transactions.get("tx").state) == ("hold_markers", "EndTxn", "PrepareCommit")
    assert states(broker) == [(False, "open")]
    assert committed_value(broker, NOTHING_COMES_SECONDS) is None

    broker.held.release(held)

    assert broker.transactions.get("tx").state == "CompleteCommit"
    assert states(broker) == [(False, "committed"), (True, "committed")]
    assert committed_value(broker) == b"tea"


def test_abort_is_held_until_the_faults_are_reset(broker: Broker) -> None:
    producer = open_transaction(broker)
    broker.faults.held_markers()
    producer.abort_transaction(SECONDS_MAX)
    before = broker.transactions.get("tx").state, states(broker)

    broker.reset("faults")

    assert before == ("PrepareAbort", [(False, "open")])
    assert (broker.transactions.get("tx").state, broker.held.list()) == ("CompleteAbort", [])
    assert states(broker) == [(False, "aborted"), (True, "aborted")]


def test_journal_shows_the_held_markers(broker: Broker) -> None:
    producer = open_transaction(broker)
    rule = broker.faults.held_markers()
    producer.commit_transaction(SECONDS_MAX)

    (entry,) = [each for each in broker.journal.entries() if each.api == "EndTxn"]

    assert [(fault.rule, fault.point, fault.kind) for fault in entry.faults] == [(rule.id, "received", "hold_markers")]
    broker.held.release()


def test_requests_for_a_transaction_that_is_ending_are_concurrent() -> None:
    with Broker() as broker, TransactionalClient(broker.bootstrap_servers) as client:
        broker.topics.create(TOPIC, partitions=1)
        broker.faults.held_markers(times=None)
        producer = client.begin()

        ended = client.end(producer, is_commit=True)
        repeated = client.end(producer, is_commit=True)
        after = (ended.producer_id, ended.producer_epoch)
        errors = [repeated.error_code, client.init().error_code, client.add(after)]
        held = broker.held.list()
        broker.held.release()

        assert (ended.error_code, after) == (0, (producer[0], producer[1] + 1))
        assert errors == [ErrorCode.CONCURRENT_TRANSACTIONS] * 3
        assert len(held) == 1
        assert (client.state().transaction_state, client.add(after)) == ("CompleteCommit", 0)


def test_refused_end_holds_no_later_transaction() -> None:
    with Broker() as broker, TransactionalClient(broker.bootstrap_servers) as client:
        broker.topics.create(TOPIC, partitions=1)
        broker.faults.held_markers()
        producer = client.begin()

        refused = client.end((producer[0], producer[1] + 5), is_commit=True)
        ended = client.end(producer, is_commit=True)

        assert (refused.error_code, ended.error_code) == (ErrorCode.PRODUCER_FENCED, 0)
        assert (client.state().transaction_state, broker.held.list()) == ("CompleteCommit", [])


def test_node_that_restarts_after_a_crash_writes_held_markers() -> None:
    with Broker() as broker:
        broker.topics.create(TOPIC, partitions=1)
        producer = open_transaction(broker)
        broker.faults.held_markers()
        producer.commit_transaction(SECONDS_MAX)

        broker.crash()
        broker.restart()

        assert broker.transactions.get("tx").state == "CompleteCommit"
        assert states(broker) == [(False, "committed"), (True, "committed")]


def test_markers_are_held_with_flushed_logs() -> None:
    with Broker({"log.flush.interval.messages": "1"}) as broker:
        broker.topics.create(TOPIC, partitions=1)
        producer = open_transaction(broker)
        broker.faults.held_markers()
        producer.commit_transaction(SECONDS_MAX)
        held = broker.transactions.get("tx").state

        broker.held.release()

        assert (held, committed_value(broker)) == ("PrepareCommit", b"tea")


def test_rule_without_endtxn_is_refused() -> None:
    with Broker() as broker, pytest.raises(RuleError, match="hold_markers is for EndTxn"):
        broker.faults.add(point="received", action=HoldMarkers())
