"""Dead-letter queues of share groups (KIP-1191): python -m tests.golden.capture_dead_letters HOST:PORT.

Needs a fresh Kafka 4.4 with CONFIG. Kafka writes dead letters in the order in which they were made, so the first one of
a later group says that the topics of the groups before it get no more.
"""

from fauxka.protocol.batches import records as record_codec
from fauxka.protocol.batches.records import Record, build_batch
from fauxka.protocol.batches.whole_batches import split_batches
from fauxka.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from fauxka.protocol.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from fauxka.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fauxka.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

from .capture_batches import FIRST_TIMESTAMP
from .capture_normal_form import Json
from .capture_recorder import TOPIC_RESOURCE, Recorder, main
from .capture_share_groups import ACCEPT, GROUP_RESOURCE, LOCK_MS, REJECT, RELEASE, Story, wait_for_group_coordinator

CONFIG = {
    "errors.deadletterqueue.auto.create.topics.enable": "true",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.min.heartbeat.interval.ms": "500",
    "share.coordinator.state.topic.num.partitions": "1",
    "num.partitions": "2",
}
TOPIC_NAME, COPIES = "errors.deadletterqueue.topic.name", "errors.deadletterqueue.copy.record.enable"
ENABLED = {"errors_deadletterqueue_group_enable": "true"}
READ_VERSION = 12
# Those of fauxka's records: text if they are UTF-8.
Stored = list[Json]


def capture(recorder: Recorder) -> None:
    """Record every case."""
    wait_for_group_coordinator(recorder)
    _configs(recorder)
    _rejected(recorder)
    _partitions(recorder)
    _copied(recorder)
    _delivered_too_often(recorder)
    _locks_that_end(recorder)
    _created(recorder)
    _not_written(recorder)


def _configs(recorder: Recorder) -> None:
    for value in ("", "dlq.x", "x", "__x", "__consumer_offsets", "dlq. no name", " dlq.y "):
        _set(recorder, f"configs: topic {value!r}", "configs", TOPIC_NAME, value)
    for value in ("true", "FALSE", "maybe"):
        _set(recorder, f"configs: copies {value!r}", "configs", COPIES, value)


def _set(recorder: Recorder, case: str, group_id: str, name: str, value: str) -> None:
    entry = AlterableConfig(name=name, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group_id, configs=[entry])
    recorder.case(case, 1, IncrementalAlterConfigsRequest(resources=[resource]))


def _rejected(recorder: Recorder) -> None:
    recorder.create_topic("dlq.rejected", 1, **ENABLED)
    story = Story(recorder, "rejected", 1, **_to("dlq.rejected"))
    story.join()
    story.first_fetch()
    story.produce(4)
    story.fetch("four records", 1)
    story.acknowledge("accept, reject, reject, accept", 2, (0, 3, [ACCEPT, REJECT, REJECT, ACCEPT]))
    stored(recorder, "rejected: two dead letters", "dlq.rejected", 0, 2)


def _partitions(recorder: Recorder) -> None:
    recorder.create_topic("dlq.three", 3, **ENABLED)
    story = Story(recorder, "partitions", 5, **_to("dlq.three"))
    story.join()
    story.first_fetch()
    story.waiting_fetch("partition 4 is added", 1, partitions=(4,))
    story.produce(1, partition=4)
    story.fetch("a record of partition 4", 2, partitions=())
    story.acknowledge("rejected in partition 4", 3, (0, 0, [REJECT]), partition=4)
    stored(recorder, "partitions: a dead letter in partition 1", "dlq.three", 1, 1)


def _copied(recorder: Recorder) -> None:
    recorder.create_topic("dlq.copied", 1, **ENABLED)
    story = Story(recorder, "copied", 1, **_to("dlq.copied"), **{COPIES.replace(".", "_"): "true"})
    story.join()
    story.first_fetch()
    records = [
        Record(value=b"a value", key=b"a key", timestamp=FIRST_TIMESTAMP, headers=(("of", b"the record"),)),
        Record(value=None, key=b"a key", timestamp=FIRST_TIMESTAMP),
        Record(value=b"a value", timestamp=FIRST_TIMESTAMP),
    ]
    recorder.produce(story.topic, build_batch(records))
    story.fetch("three records", 1)
    story.acknowledge("rejected", 2, (0, 2, [REJECT]))
    stored(recorder, "copied: three dead letters", "dlq.copied", 0, 3)


def _delivered_too_often(recorder: Recorder) -> None:
    recorder.create_topic("dlq.often", 1, **ENABLED)
    story = Story(recorder, "often", 1, **_to("dlq.often"), share_delivery_count_limit="2")
    story.join()
    story.first_fetch()
    story.produce(1)
    story.fetch("the first time", 1)
    story.acknowledge("released", 2, (0, 0, [RELEASE]))
    story.fetch("the second time", 3)
    story.acknowledge("released again", 4, (0, 0, [RELEASE]))
    stored(recorder, "often: a dead letter", "dlq.often", 0, 1)


def _locks_that_end(recorder: Recorder) -> None:
    recorder.create_topic("dlq.locks", 1, **ENABLED)
    story = Story(
        recorder,
        "locks",
        1,
        **_to("dlq.locks"),
        share_delivery_count_limit="2",
        share_record_lock_duration_ms=str(LOCK_MS),
    )
    story.join()
    story.first_fetch()
    story.produce(1)
    story.fetch("the first time", 1)
    story.acknowledge("released", 2, (0, 0, [RELEASE]))
    story.fetch("the second time", 3)
    recorder.pass_ms(LOCK_MS + 500)
    stored(recorder, "locks: a dead letter", "dlq.locks", 0, 1)


def _created(recorder: Recorder) -> None:
    story = Story(recorder, "created", 1, **_to("dlq.created"))
    story.join()
    story.first_fetch()
    story.produce(1)
    story.fetch("a record", 1)
    story.acknowledge("rejected", 2, (0, 0, [REJECT]))
    recorder.wait_for_topic("dlq.created", 2)
    stored(recorder, "created: a dead letter", "dlq.created", 0, 1)
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE,
        resource_name="dlq.created",
        configuration_keys=["errors.deadletterqueue.group.enable", "message.timestamp.type", "cleanup.policy"],
    )
    recorder.case("created: its configs", 4, DescribeConfigsRequest(resources=[resource]))


def _not_written(recorder: Recorder) -> None:
    """Groups whose dead letters have no topic, and one more, whose dead letter is written after theirs."""
    recorder.create_topic("dlq.plain", 1)
    recorder.create_topic("queue", 1, **ENABLED)
    recorder.create_topic("dlq.last", 1, **ENABLED)
    for group_id, topic in (("to-plain", "dlq.plain"), ("without-prefix", "queue"), ("to-last", "dlq.last")):
        story = Story(recorder, group_id, 1, **_to(topic))
        story.join()
        story.first_fetch()
        story.produce(1)
        story.fetch("a record", 1)
        story.acknowledge("rejected", 2, (0, 0, [REJECT]))
        story.offsets("is done with it", {story.topic: [0]})
    stored(recorder, "to-last: a dead letter", "dlq.last", 0, 1)
    stored(recorder, "to-plain: none", "dlq.plain", 0, 0)
    stored(recorder, "without-prefix: none", "queue", 0, 0)


def _to(topic: str) -> dict[str, str]:
    return {TOPIC_NAME.replace(".", "_"): topic}


def stored(recorder: Recorder, case: str, topic: str, partition: int, count: int) -> None:
    """Write a line with the records of a partition, once it has so many. Timestamps are not written."""
    recorder.wait(lambda: _end_offset(recorder, topic, partition) == count, f"{count} records in {topic}-{partition}")
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1_000_000,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[FetchPartition(partition=partition, fetch_offset=0, partition_max_bytes=1_000_000)],
            )
        ],
    )
    response = recorder.call(request, READ_VERSION, FetchResponse)
    data = response.responses[0].partitions[0].records or b""
    found = [record for batch in split_batches(memoryview(data)) for record in record_codec.decode_batch(batch.data)]
    recorder.stored(case, [_normal_form(record) for record in found])


def _normal_form(record: Record) -> Stored:
    headers: list[Json] = [[name, _text(value)] for name, value in record.headers]
    return [_text(record.key), _text(record.value), headers]


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode()


def _end_offset(recorder: Recorder, topic: str, partition: int) -> int:
    asked = ListOffsetsTopic(name=topic, partitions=[ListOffsetsPartition(partition_index=partition, timestamp=-1)])
    request = ListOffsetsRequest(replica_id=-1, topics=[asked])
    return recorder.call(request, 7, ListOffsetsResponse).topics[0].partitions[0].offset


if __name__ == "__main__":
    main(capture)
