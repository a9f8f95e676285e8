"""The verdict on a group whose application reports what it processes, with real clients."""

from __future__ import annotations

from collections.abc import Iterator

import confluent_kafka
import pytest

from fauxka.faults.consumption.group_verdict import GroupVerdict
from fauxka.testing import Broker

from .group_readers import READERS, TOPIC, MakeReader, Reader

pytestmark = pytest.mark.clients

GROUP = "billing"
CONFIG = {
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
}
RECORDS = 6


@pytest.fixture(scope="module")
def shared() -> Iterator[Broker]:
    with Broker(CONFIG) as broker:
        yield broker


@pytest.fixture
def broker(shared: Broker) -> Broker:
    shared.reset()
    shared.topics.create(TOPIC, partitions=1)
    return shared


@pytest.fixture(params=READERS.values(), ids=list(READERS))
def make_reader(request: pytest.FixtureRequest) -> MakeReader:
    made: MakeReader = request.param
    return made


class Application:
    """A consumer that processes records, and reports each."""

    def __init__(self, broker: Broker, reader: Reader) -> None:
        self._broker = broker
        self._reader = reader

    def process(self, count: int, *, known: set[int], leave_out: int | None = None, deduplicates: bool = False) -> None:
        for offset in self._reader.read(count):
            if offset != leave_out and not (deduplicates and offset in known):
                self._broker.processed(TOPIC, 0, offset, group=GROUP)
            known.add(offset)

    def commit(self, offset: int) -> None:
        self._reader.commit(offset)

    def close(self) -> None:
        self._reader.close()


def append(broker: Broker) -> None:
    broker.topics.seed(TOPIC, [{"value": "v", "headers": {"id": f"A-{number}"}} for number in range(RECORDS)])


def read_twice(broker: Broker, make_reader: MakeReader, *, deduplicates: bool) -> GroupVerdict:
    """Return the verdict after a restart when four of six records were committed."""
    append(broker)
    known: set[int] = set()
    for committed, count in ((4, RECORDS), (RECORDS, RECORDS - 4)):
        application = Application(broker, make_reader(broker.bootstrap_servers, GROUP))
        application.process(count, known=known, deduplicates=deduplicates)
        application.commit(committed)
        application.close()
    return broker.verdict(group=GROUP)


def found_in(verdict: GroupVerdict) -> list[tuple[str, str, list[int]]]:
    return [(each.kind, each.cause, each.offsets) for each in verdict.findings]


def test_records_that_are_processed_again_after_a_restart_are_processed_twice(
    broker: Broker, make_reader: MakeReader
) -> None:
    verdict = read_twice(broker, make_reader, deduplicates=False)

    assert found_in(verdict) == [("processed_twice", "restart_before_commit", [4, 5])]
    with pytest.raises(AssertionError, match=r"offsets 4\.\.5: the application processed them 2 times: .* restart"):
        verdict.assert_processed_once()


def test_records_that_an_application_recognises_are_only_delivered_twice(
    broker: Broker, make_reader: MakeReader
) -> None:
    verdict = read_twice(broker, make_reader, deduplicates=True)

    assert found_in(verdict) == [("delivered_twice", "restart_before_commit", [4, 5])]
    assert verdict.findings[0].why.endswith("the application processed none of them twice")
    verdict.assert_processed_once()
    with pytest.raises(AssertionError, match="delivered once"):
        verdict.assert_delivered_once()


def read_with_a_crash(broker: Broker, make_reader: MakeReader, *, commits_first: bool) -> GroupVerdict:
    """Return the verdict after a crash before the last record is processed, and a second consumer."""
    append(broker)
    known: set[int] = set()
    first = Application(broker, make_reader(broker.bootstrap_servers, GROUP))
    first.process(RECORDS, known=known, leave_out=RECORDS - 1)
    first.commit(RECORDS if commits_first else RECORDS - 1)
    first.close()
    append(broker)
    second = Application(broker, make_reader(broker.bootstrap_servers, GROUP))
    second.process(RECORDS if commits_first else RECORDS + 1, known=known)
    second.commit(2 * RECORDS)
    second.close()
    return broker.verdict(group=GROUP)


def test_record_that_is_committed_before_a_crash_is_never_processed(broker: Broker, make_reader: MakeReader) -> None:
    verdict = read_with_a_crash(broker, make_reader, commits_first=True)

    assert found_in(verdict) == [("committed_unprocessed", "committed_before_processing", [5, 5])]
    with pytest.raises(AssertionError, match="12 is committed, and the application never processed them"):
        verdict.assert_processed_once()


def test_record_that_is_committed_after_processing_is_processed_once(broker: Broker, make_reader: MakeReader) -> None:
    verdict = read_with_a_crash(broker, make_reader, commits_first=False)

    assert found_in(verdict) == [("delivered_twice", "restart_before_commit", [5, 5])]
    assert [(each.processed, each.processed_from) for each in verdict.partitions] == [(12, "reports")]
    verdict.assert_processed_once()


def test_record_that_is_processed_and_not_committed_is_named(broker: Broker, make_reader: MakeReader) -> None:
    append(broker)
    application = Application(broker, make_reader(broker.bootstrap_servers, GROUP))
    application.process(RECORDS, known=set(), leave_out=1)
    application.close()

    assert found_in(broker.verdict(group=GROUP)) == [
        ("never_processed", "passed_over", [1, 1]),
        ("processed_uncommitted", "not_committed", [0, 0]),
        ("processed_uncommitted", "not_committed", [2, 5]),
    ]


def test_events_are_reported_by_their_id(broker: Broker) -> None:
    append(broker)
    reader = READERS["confluent-kafka"](broker.bootstrap_servers, GROUP)
    reader.read(RECORDS)
    reader.commit(RECORDS)
    reader.close()
    events = [f"A-{number}" for number in (0, 1, 2, 2, 4, 5, 9)]

    broker.processed(TOPIC, event=events, event_id="header:id", group=GROUP)

    verdict = broker.verdict(group=GROUP)
    assert found_in(verdict) == [
        ("processed_twice", "delivered_once", [2, 2]),
        ("committed_unprocessed", "committed_before_processing", [3, 3]),
    ]
    assert verdict.notes == ["processed events that orders does not have by header:id: 1, such as 'A-9'"]


def test_copies_of_an_event_are_processed_with_it(broker: Broker) -> None:
    append(broker)
    append(broker)
    reader = READERS["confluent-kafka"](broker.bootstrap_servers, GROUP)
    reader.read(2 * RECORDS)
    reader.commit(2 * RECORDS)
    reader.close()

    broker.processed(TOPIC, event=[f"A-{number}" for number in range(RECORDS)], event_id="header:id", group=GROUP)

    broker.verdict(group=GROUP).assert_processed_once()


def test_markers_and_aborted_records_need_no_processing(broker: Broker) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "orders"})
    producer.init_transactions()
    for end in (producer.commit_transaction, producer.abort_transaction, producer.commit_transaction):
        producer.begin_transaction()
        producer.produce(TOPIC, b"v")
        # An abort drops what is not sent yet.
        producer.flush()
        end()
    reader = READERS["confluent-kafka"](broker.bootstrap_servers, GROUP)
    assert reader.read(2) == [0, 4]
    reader.commit(6)
    reader.close()

    broker.processed(TOPIC, 0, [0, 4], group=GROUP)

    verdict = broker.verdict(group=GROUP)
    assert verdict.findings == []
    verdict.assert_processed_once()


def test_reports_end_with_the_journal(broker: Broker) -> None:
    append(broker)
    broker.processed(TOPIC, 0, [0, 0], group=GROUP)
    assert [each.kind for each in broker.verdict(group=GROUP).findings] == ["processed_twice", "processed_uncommitted"]

    broker.journal.clear()
    broker.processed(TOPIC, 0, 1, group=GROUP)

    assert found_in(broker.verdict(group=GROUP)) == [("processed_uncommitted", "not_committed", [1, 1])]


def test_group_without_reports_has_no_verdict_on_its_processing(broker: Broker) -> None:
    append(broker)
    reader = READERS["confluent-kafka"](broker.bootstrap_servers, GROUP)
    reader.read(RECORDS)
    reader.commit(RECORDS)
    reader.close()

    with pytest.raises(AssertionError, match="no application has reported what group 'billing' processed"):
        broker.verdict(group=GROUP).assert_processed_once()
