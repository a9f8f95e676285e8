"""The verdict on applications that copy a topic to another, with real clients: each defect, and its mended twin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import confluent_kafka
import pytest

from fauxka.faults.flow.flow_verdict import FlowVerdict
from fauxka.testing import Broker

from .topic_copiers import COPIERS, FROM_TOPIC, GROUP, PATIENCE_S, TO_TOPIC, MakeCopier

pytestmark = pytest.mark.clients

EVENTS = 4


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    shared.reset()
    shared.topics.create(FROM_TOPIC, partitions=1)
    shared.topics.create(TO_TOPIC, partitions=1)
    shared.topics.seed(FROM_TOPIC, [{"value": "v", "headers": {"id": f"A-{number}"}} for number in range(EVENTS)])
    return shared


@pytest.fixture(params=COPIERS.values(), ids=list(COPIERS))
def make_copier(request: pytest.FixtureRequest) -> MakeCopier:
    made: MakeCopier = request.param
    return made


def verdict_of(broker: Broker) -> FlowVerdict:
    return broker.verdict(from_topic=FROM_TOPIC, to_topic=TO_TOPIC, event_id="header:id", group=GROUP)


def found_in(verdict: FlowVerdict) -> list[tuple[str, str, list[str]]]:
    return [(each.kind, each.cause, [event.event for event in each.events]) for each in verdict.findings]


def copy(make_copier: MakeCopier, broker: Broker, count: int, *, commits: bool = True) -> None:
    """Copy events one by one without transactions, each before its commit. The last one is not committed if not so."""
    with closing(make_copier(broker.bootstrap_servers)) as copier:
        for number in range(count):
            (event_id,) = copier.read(1)
            copier.write(event_id)
            if commits or number + 1 < count:
                copier.commit()


def test_copies_before_a_commit_that_is_never_made_are_doubled(broker: Broker, make_copier: MakeCopier) -> None:
    copy(make_copier, broker, 2, commits=False)
    copy(make_copier, broker, EVENTS - 1)

    verdict = verdict_of(broker)

    assert found_in(verdict) == [("doubled", "restart_before_commit", ["A-1"])]
    with pytest.raises(
        AssertionError, match=r"doubled: A-1 \(0@1 to 0@1, 0@2\): .* after a restart, and 1 was committed"
    ):
        verdict.assert_exactly_once()
    verdict.assert_nothing_lost()
    verdict.assert_in_order()


def test_copies_with_their_offsets_in_a_transaction_are_there_once(broker: Broker, make_copier: MakeCopier) -> None:
    for count, commits in ((2, False), (EVENTS, True)):
        with closing(make_copier(broker.bootstrap_servers, "copy")) as copier:
            copier.begin()
            for event_id in copier.read(count):
                copier.write(event_id)
            copier.add_offsets()
            copier.end(commits=commits)

    verdict = verdict_of(broker)

    assert verdict.findings == []
    verdict.assert_exactly_once()
    verdict.assert_in_order()


def test_commit_outside_of_an_aborted_transaction_loses_its_events(broker: Broker, make_copier: MakeCopier) -> None:
    for number, count in enumerate((2, EVENTS - 2)):
        with closing(make_copier(broker.bootstrap_servers, "copy")) as copier:
            copier.begin()
            for event_id in copier.read(count):
                copier.write(event_id)
            copier.commit()
            copier.end(commits=number > 0)

    verdict = verdict_of(broker)

    assert found_in(verdict) == [("lost", "output_aborted", ["A-0", "A-1"])]
    with pytest.raises(AssertionError, match="aborted transaction, and group billing has committed them all the same"):
        verdict.assert_nothing_lost()


@pytest.mark.parametrize("is_committed_first", [True, False])
def test_commit_before_the_copy_loses_the_event_of_a_crash(
    broker: Broker, make_copier: MakeCopier, *, is_committed_first: bool
) -> None:
    with closing(make_copier(broker.bootstrap_servers)) as copier:
        copier.read(1)
        if is_committed_first:
            copier.commit()
    copy(make_copier, broker, EVENTS - is_committed_first)

    verdict = verdict_of(broker)

    assert found_in(verdict) == ([("lost", "committed", ["A-0"])] if is_committed_first else [])


@pytest.mark.parametrize("isolation", ["read_uncommitted", "read_committed"])
def test_aborted_input_is_copied_by_a_reader_of_uncommitted_records(
    broker: Broker, make_copier: MakeCopier, isolation: str
) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "orders"})
    producer.init_transactions(PATIENCE_S)
    for event_id, end in ((b"B-0", producer.abort_transaction), (b"B-1", producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(FROM_TOPIC, b"v", headers=[("id", event_id)])
        producer.flush()
        end(PATIENCE_S)
    is_defective = isolation == "read_uncommitted"
    with closing(make_copier(broker.bootstrap_servers, isolation=isolation)) as copier:
        for event_id in copier.read(EVENTS + 1 + is_defective):
            copier.write(event_id)
        copier.commit()

    verdict = verdict_of(broker)

    assert found_in(verdict) == ([("unexpected", "aborted_input", ["B-0"])] if is_defective else [])
    assert verdict.events.once == EVENTS + 1


@pytest.mark.parametrize("is_sorted", [False, True])
def test_copies_in_another_order_are_out_of_order(broker: Broker, make_copier: MakeCopier, *, is_sorted: bool) -> None:
    with closing(make_copier(broker.bootstrap_servers)) as copier:
        events = copier.read(EVENTS)
        for event_id in events if is_sorted else [events[-1], *events[:-1]]:
            copier.write(event_id)
        copier.commit()

    verdict = verdict_of(broker)

    assert found_in(verdict) == ([] if is_sorted else [("out_of_order", "overtaken", ["A-0", "A-1", "A-2"])])
    verdict.assert_exactly_once()


def test_output_of_an_open_transaction_is_lost_until_it_is_committed(broker: Broker, make_copier: MakeCopier) -> None:
    with closing(make_copier(broker.bootstrap_servers, "copy")) as copier:
        copier.begin()
        for event_id in copier.read(EVENTS):
            copier.write(event_id)
        copier.add_offsets()
        assert {(each.kind, each.cause) for each in verdict_of(broker).findings} == {("lost", "output_open")}

        copier.end(commits=True)

    verdict_of(broker).assert_exactly_once()
