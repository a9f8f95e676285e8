"""Produce from frame to frame, with and without a route, by the rules of each version."""

import logging
from collections.abc import Mapping
from typing import ClassVar, cast

import pytest

from fauxka.broker.replica.replication import Replication
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.frames import FrameError
from fauxka.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .produce_scene import ProduceScene, batch

VERSIONS = range(3, 14)


@pytest.mark.parametrize("version", VERSIONS)
def test_batches_one_after_the_other_get_the_offsets_they_were_stored_at(version: int) -> None:
    scene = ProduceScene()

    answers = [scene.send(batch(records=3), version=version) for _ in range(3)]

    assert [(answer.error_code, answer.base_offset) for answer in answers] == [(0, 0), (0, 3), (0, 6)]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_repeated_batch_is_answered_with_its_first_offset_and_stored_once(version: int) -> None:
    scene = ProduceScene()
    scene.send(batch(5, 0, 0, records=2), version=version)
    scene.send(batch(5, 0, 2), version=version)

    again = scene.send(batch(5, 0, 0, records=2), version=version)

    assert (again.error_code, again.base_offset) == (0, 0)
    assert scene.log_end_offset == 3


@pytest.mark.parametrize("version", VERSIONS)
def test_a_gap_is_refused_however_often_the_same_head_was_accepted_before(version: int) -> None:
    scene = ProduceScene()
    scene.send(batch(5, 0, 0), version=version)
    scene.send(batch(5, 0, 1), version=version)

    refused = scene.send(batch(5, 0, 9), version=version)

    assert refused.error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused.base_offset == -1
    assert scene.log_end_offset == 2


class CountingReplication:
    """The replication of a partition, which counts how often a batch with acks=all is judged."""

    followers: ClassVar[Mapping[int, object]] = {}

    def __init__(self) -> None:
        self.count = 0

    def check_min_isr(self) -> None:
        self.count += 1

    def must_wait(self, end_offset: int) -> bool:
        return False


@pytest.mark.parametrize("version", VERSIONS)
def test_a_refused_batch_is_judged_once_however_often_the_same_head_was_accepted(version: int) -> None:
    scene = ProduceScene()
    for sequence in range(4):
        scene.send(batch(5, 0, sequence), version=version)
    judged = CountingReplication()
    scene.partition.replication = cast(Replication, judged)

    refused = scene.send(batch(5, 0, 9), version=version)

    assert (refused.error_code, judged.count) == (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_created_again_is_written_to_anew_under_the_head_of_the_old_one(version: int) -> None:
    scene = ProduceScene()
    for _ in range(3):
        scene.send(batch(), version=version)

    scene.cluster.controller.delete_topics([scene.topic])
    scene.topic = scene.cluster.controller.create_topic("events", 1)
    answer = scene.send(batch(), version=version)

    assert (answer.error_code, answer.base_offset) == (0, 0)
    assert scene.log_end_offset == 1


def test_the_old_id_of_a_topic_created_again_is_unknown() -> None:
    scene = ProduceScene()
    old = scene.topic
    for _ in range(3):
        scene.send(batch(), version=13)

    scene.cluster.controller.delete_topics([old])
    scene.cluster.controller.create_topic("events", 1)
    answer = scene.send(batch(), version=13)

    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_heads_that_differ_in_the_partition_only_lead_to_their_own() -> None:
    scene = ProduceScene(partition_count=3)

    answers = [scene.send(batch(), partition=partition) for partition in (0, 1, 1, 2, 0)]

    assert [(answer.index, answer.base_offset) for answer in answers] == [(0, 0), (1, 0), (1, 1), (2, 0), (0, 1)]


def test_bytes_behind_a_request_are_not_read_as_part_of_its_batch() -> None:
    scene = ProduceScene()
    scene.send(batch())
    records = batch(records=2)

    answer = scene.send(records + records[:11])

    assert (answer.error_code, answer.base_offset) == (0, 1)
    assert scene.log_end_offset == 3


def test_null_records_are_invalid_and_the_next_batch_is_taken() -> None:
    scene = ProduceScene()

    refused = scene.send(None)
    taken = scene.send(batch())

    assert refused.error_code == ErrorCode.INVALID_RECORD
    assert (taken.error_code, taken.base_offset) == (0, 0)


def test_without_acks_nothing_is_answered_and_the_batch_is_stored() -> None:
    scene = ProduceScene()
    request = produce_request(batch(), acks=0)

    answers = [scene.exchange(request, 9) for _ in range(2)]

    assert answers == [None, None]
    assert scene.log_end_offset == 2


def test_without_acks_a_refusal_ends_the_connection() -> None:
    scene = ProduceScene()
    scene.exchange(produce_request(batch(5, 0, 0), acks=0), 9)

    with pytest.raises(FrameError, match="OUT_OF_ORDER_SEQUENCE_NUMBER"):
        scene.exchange(produce_request(batch(5, 0, 7), acks=0), 9)


def test_an_internal_topic_is_not_written_by_clients_also_after_the_admin_client_wrote_it() -> None:
    scene = ProduceScene()
    scene.cluster.controller.create_topic("__consumer_offsets", 1)
    request = produce_request(batch(), topic="__consumer_offsets")

    refused = scene.exchange(request, 9)

    assert refused is not None
    assert refused.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def produce_request(records: bytes, *, acks: int = -1, topic: str = "events") -> ProduceRequest:
    data = PartitionProduceData(index=0, records=records)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=[data])])


# What the partition answers, by the version whose rules hold: KAFKA-5494, KAFKA-5793, KAFKA-6683, KIP-360, KAFKA-15591.
UNKNOWN_PRODUCER_IN_THE_MIDDLE = {
    "0.11": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    "1.0": ErrorCode.UNKNOWN_PRODUCER_ID,
    "1.1": ErrorCode.UNKNOWN_PRODUCER_ID,
    "2.4": ErrorCode.UNKNOWN_PRODUCER_ID,
    "2.5": ErrorCode.NONE,
    "4.3": ErrorCode.NONE,
    "4.4": ErrorCode.NONE,
    "4.5": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
}


@pytest.mark.parametrize(("as_version", "error"), UNKNOWN_PRODUCER_IN_THE_MIDDLE.items())
def test_an_unknown_producer_on_a_partition_never_written(as_version: str, error: ErrorCode) -> None:
    answer = ProduceScene(as_version).send(batch(5, 0, 7))

    assert answer.error_code == error


@pytest.mark.parametrize("as_version", UNKNOWN_PRODUCER_IN_THE_MIDDLE)
def test_an_unknown_producer_that_begins_at_zero_is_accepted_by_every_version(as_version: str) -> None:
    answer = ProduceScene(as_version).send(batch(5, 0, 0))

    assert answer.error_code == ErrorCode.NONE


def test_4_5_accepts_any_sequence_of_an_unknown_producer_once_the_partition_was_written() -> None:
    scene = ProduceScene("4.5")
    scene.send(batch(1, 0, 0))

    answer = scene.send(batch(5, 0, 7))

    assert answer.error_code == ErrorCode.NONE


OLDER_THAN_THE_CACHE = {
    "0.11": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    "1.0": ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
    "1.1": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    "4.3": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    "4.5": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
}


@pytest.mark.parametrize(("as_version", "error"), OLDER_THAN_THE_CACHE.items())
def test_a_batch_older_than_the_five_remembered(as_version: str, error: ErrorCode) -> None:
    scene = ProduceScene(as_version)
    for sequence in range(0, 12, 2):
        scene.send(batch(5, 0, sequence, records=2))

    answer = scene.send(batch(5, 0, 0, records=2))

    assert answer.error_code == error
    assert scene.log_end_offset == 12


@pytest.mark.parametrize(
    ("as_version", "error"),
    [("0.11", ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER), ("1.0", ErrorCode.NONE), ("4.3", ErrorCode.NONE)],
)
def test_the_second_last_batch_again(as_version: str, error: ErrorCode) -> None:
    scene = ProduceScene(as_version)
    scene.send(batch(5, 0, 0))
    scene.send(batch(5, 0, 1))

    answer = scene.send(batch(5, 0, 0))

    assert answer.error_code == error
    assert scene.log_end_offset == 2


@pytest.mark.parametrize("as_version", ["0.11", "1.0", "2.4", "4.3", "4.5"])
def test_a_lower_epoch_is_fenced_by_every_version(as_version: str) -> None:
    scene = ProduceScene(as_version)
    scene.send(batch(5, 1, 0))

    answer = scene.send(batch(5, 0, 1))

    assert answer.error_code == ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_producer_idle_for_a_day_expires_at_the_end_of_the_day() -> None:
    scene = ProduceScene("2.4", config={"transactional.id.expiration.ms": "86400000"})
    scene.send(batch(5, 0, 0))

    scene.clock.advance(86_400_000)
    scene.cluster.node.replicas.expire_producers()
    answer = scene.send(batch(5, 0, 1))

    assert answer.error_code == ErrorCode.UNKNOWN_PRODUCER_ID


def test_a_refused_batch_is_explained_in_one_sentence_with_the_numbers(caplog: pytest.LogCaptureFixture) -> None:
    scene = ProduceScene()
    scene.send(batch(5, 2, 0, records=5))

    with caplog.at_level(logging.INFO, logger="fauxka"):
        scene.send(batch(5, 2, 10))

    assert caplog.messages == [
        "events-0: producer 5 epoch 2: expected sequence 5, got 10 (cached 0..4): a gap is refused as a whole"
    ]


def test_a_repeated_batch_is_explained_too(caplog: pytest.LogCaptureFixture) -> None:
    scene = ProduceScene()
    scene.send(batch(5, 0, 0, records=2))

    with caplog.at_level(logging.INFO, logger="fauxka"):
        scene.send(batch(5, 0, 0, records=2))

    assert len(caplog.messages) == 1
    assert "producer 5 epoch 0: sequences 0..1 are a duplicate of the batch at offsets 0..1" in caplog.messages[0]
