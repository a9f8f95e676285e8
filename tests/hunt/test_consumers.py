"""Consumers that are judged by what their group got and committed: correct ones hold, and planted defects are found.

`make test` tries the faults after which every client goes on at once, and the group hunt all.
"""

import gc
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from fauxka.testing import Broker, CannotHunt, hunt, report_text
from fauxka.testing.hunting.judgement import Judgement, Outcome

from .consumers import CONSUMERS, COUNT, GROUP, TOPIC, Program, fill, valid
from .programs import QUICK, copy_as_member, raise_failure
from .programs import fill as fill_copied
from .test_faults_in_programs import judged

# kafka-python leaves sockets of connections that have failed to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

QUICK_FAULTS = (
    *("lost acknowledgement", "lost request", "reset after it was applied"),
    *("OFFSET_OUT_OF_RANGE", "members expired", "crash after it was applied"),
)
# Trials of a slice.
SLICE = 8
EVERY_CONSUMER = pytest.mark.parametrize("program", CONSUMERS.values(), ids=list(CONSUMERS))


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Collect the garbage of a test before the next one."""
    yield
    gc.collect()


@EVERY_CONSUMER
@pytest.mark.parametrize("promise", ["exactly-once", pytest.param("at-least-once", marks=pytest.mark.hunt)])
def test_a_correct_consumer_is_not_accused_of_a_fault_that_is_soon_over(program: Program, promise: str) -> None:
    result = hunt(
        program,
        groups=[GROUP],
        expect=promise,
        prepare=fill,
        restarts=1,
        skip=() if promise == "at-least-once" else ["OFFSET_OUT_OF_RANGE"],
        only=QUICK_FAULTS,
        budget=SLICE,
        jobs=2,
    )

    assert not result.findings, report_text(result)


@pytest.mark.hunt
@pytest.mark.timeout(900)
# A coroutine that is cancelled in the middle leaves connections of aiokafka to the garbage collector.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@EVERY_CONSUMER
@pytest.mark.parametrize("promise", ["exactly-once", "at-least-once"])
def test_a_correct_consumer_is_not_accused(program: Program, promise: str) -> None:
    result = hunt(program, groups=[GROUP], expect=promise, prepare=fill, restarts=1, budget="10m", pairs=0, jobs=2)

    # kafka-python joins no group any more after a SyncGroup without a response.
    broken = [each for each in result.findings if each.judgement.outcome is Outcome.BROKEN]
    assert not broken, report_text(result)


def test_a_program_that_reads_as_another_group_is_not_hunted() -> None:
    program = CONSUMERS["confluent-kafka, eager"]

    with pytest.raises(CannotHunt, match="the program got no record as group shipping; its groups: billing"):
        hunt(program, groups=["shipping"], prepare=fill)


# -- planted defects


def prepare_committed(broker: Broker) -> None:
    """Write the orders, of which the group has committed the begin."""
    fill(broker)
    with closing(Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP})) as consumer:
        consumer.commit(offsets=[TopicPartition(TOPIC, 0, 0)], asynchronous=False)


def read_on(broker: Broker, *, reset: str) -> None:
    """Read until the order that is written at the end of the topic, and commit each. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP, **QUICK}
    ours = {"enable.auto.commit": False, "auto.offset.reset": reset, "enable.partition.eof": True}
    is_last = False
    with closing(Consumer({**settings, **ours, "session.timeout.ms": 6000})) as consumer:
        consumer.subscribe([TOPIC])
        while not is_last:
            message = consumer.poll(20)
            assert message is not None
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                broker.topics.seed(TOPIC, [{"value": "last"}])
                continue
            is_last = valid(message).value() == b"last"
            consumer.commit(message=message, asynchronous=False)


@pytest.mark.parametrize(("reset", "outcome"), [("latest", Outcome.BROKEN), ("earliest", Outcome.HELD)])
def test_a_reset_to_the_end_skips_records(reset: str, outcome: Outcome) -> None:
    judgement = judged_fetch_out_of_range(partial(read_on, reset=reset))

    assert judgement.outcome is outcome
    if outcome is Outcome.BROKEN:
        assert judgement.kinds == {"skipped"}
        reason = "had no valid offset and went on at the end of the log (auto.offset.reset=latest)"
        assert judgement.reasons[0].startswith("group billing: never delivered: orders-0, offsets 0..2: rdkafka")
        assert judgement.reasons[0].endswith(reason)


def judged_fetch_out_of_range(program: Program) -> Judgement:
    result = hunt(
        program,
        groups=[GROUP],
        expect="at-least-once",
        prepare=prepare_committed,
        restarts=1,
        only=["OFFSET_OUT_OF_RANGE"],
        budget=1,
    )
    (tried,) = result.tried
    return tried.judgement


def commit_again(broker: Broker, *, is_newest_only: bool) -> None:
    """Commit each record without waiting, and after the last one again what was refused. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "group.id": GROUP, **QUICK}
    ours = {"enable.auto.commit": False, "auto.offset.reset": "earliest", "session.timeout.ms": 6000}
    refused: list[TopicPartition] = []
    answered: list[TopicPartition] = []

    def keep(error: KafkaError | None, offsets: list[TopicPartition]) -> None:
        answered.extend(offsets)
        refused.extend(offsets if error is not None else ())

    with closing(Consumer({**settings, **ours, "on_commit": keep})) as consumer:
        consumer.subscribe([TOPIC])
        for number, message in enumerate(consumer.consume(COUNT, 20)):
            consumer.commit(message=valid(message), asynchronous=True)
            while len(answered) <= number:
                consumer.poll(0.1)
        if is_newest_only:
            refused[:] = [each for each in refused if each.offset == COUNT]
        for each in refused:
            consumer.commit(offsets=[each], asynchronous=False)


@pytest.mark.parametrize(("is_newest_only", "outcome"), [(False, Outcome.BROKEN), (True, Outcome.HELD)])
def test_commits_that_are_repeated_in_the_wrong_order_set_the_group_back(
    is_newest_only: bool, outcome: Outcome
) -> None:
    judgement = judged(
        "REBALANCE_IN_PROGRESS: OffsetCommit 1 of 3 to orders of billing",
        partial(commit_again, is_newest_only=is_newest_only),
        groups=[GROUP],
        prepare=fill,
    )

    assert judgement.outcome is outcome
    if outcome is Outcome.BROKEN:
        assert judgement.kinds == {"moved back"}
        assert judgement.reasons[0].endswith("committed 1 after 3 was committed")


def copy_together(broker: Broker, *, commits_position: bool) -> None:
    """Read both orders, then copy each and commit it, or the position of the consumer. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, **QUICK}
    ours = {"group.id": "copy", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    place = TopicPartition(TOPIC, 0)
    producer = Producer({**settings, "enable.idempotence": True})
    with closing(Consumer({**settings, **ours, "session.timeout.ms": 6000})) as consumer:
        begin = max(0, consumer.committed([place], timeout=20)[0].offset)
        consumer.subscribe([TOPIC])
        for message in [valid(each) for each in consumer.consume(2 - begin, 20)] if begin < 2 else ():
            producer.produce("copies", message.value(), on_delivery=raise_failure)
            producer.flush()
            if commits_position:
                consumer.commit(offsets=consumer.position([place]), asynchronous=False)
            else:
                consumer.commit(message=message, asynchronous=False)


@pytest.mark.parametrize(("commits_position", "outcome"), [(True, Outcome.BROKEN), (False, Outcome.HELD)])
def test_a_commit_of_the_position_loses_what_is_not_processed(commits_position: bool, outcome: Outcome) -> None:
    judgement = judged(
        "TOPIC_AUTHORIZATION_FAILED: Produce 2 of 2 to copies-0",
        partial(copy_together, commits_position=commits_position),
        topics=["copies"],
        groups=["copy"],
        prepare=fill_copied,
        expect="at-least-once",
        restarts=1,
    )

    assert judgement.outcome is outcome
    assert ("missing" in judgement.kinds) == commits_position


@pytest.mark.parametrize(("is_committed_first", "outcome"), [(True, Outcome.BROKEN), (False, Outcome.HELD)])
def test_a_commit_before_the_record_is_processed_loses_it(is_committed_first: bool, outcome: Outcome) -> None:
    judgement = judged(
        "TOPIC_AUTHORIZATION_FAILED: Produce 2 of 2 to copies-0",
        partial(copy_as_member, is_committed_first=is_committed_first),
        topics=["copies"],
        groups=["copy"],
        prepare=fill_copied,
        expect="at-least-once",
        restarts=1,
    )

    assert judgement.outcome is outcome


def copy_without_looking(broker: Broker) -> None:
    """Copy the orders and commit each, whether the commit is refused or not. Raises KafkaException."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, **QUICK}
    ours = {"group.id": "copy", "enable.auto.commit": False, "auto.offset.reset": "earliest"}
    producer = Producer({**settings, "enable.idempotence": True})
    with closing(Consumer({**settings, **ours, "session.timeout.ms": 6000})) as consumer:
        consumer.subscribe([TOPIC])
        while consumer.committed([TopicPartition(TOPIC, 0)], timeout=20)[0].offset < 2:
            message = consumer.poll(1)
            if message is None:
                continue
            producer.produce("copies", valid(message).value(), on_delivery=raise_failure)
            producer.flush()
            try:
                consumer.commit(message=message, asynchronous=False)
            except KafkaException:
                continue


@pytest.mark.parametrize(("promise", "outcome"), [("exactly-once", Outcome.BROKEN), ("at-least-once", Outcome.HELD)])
def test_a_finding_says_what_the_loss_of_a_member_did_to_deliveries(promise: str, outcome: Outcome) -> None:
    judgement = judged(
        "members expired: OffsetCommit 1 of 2 to orders of copy",
        copy_without_looking,
        topics=["copies"],
        prepare=fill_copied,
        expect=promise,
    )

    assert judgement.outcome is outcome
    if outcome is Outcome.BROKEN:
        assert judgement.kinds == {"too many"}
        explained = "\n".join(judgement.reasons[1:])
        assert "group copy: stale member committed: orders-0, offset 1: rdkafka" in explained
        assert "refused with UNKNOWN_MEMBER_ID" in explained
        assert "group copy: delivered twice: orders-0, offset" in explained
