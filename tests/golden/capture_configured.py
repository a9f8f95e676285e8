"""A broker that was started with a configuration of its own: python -m tests.golden.capture_configured HOST:PORT.

Needs a fresh broker that was started with CONFIG.
"""

from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fauxka.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest

from .capture_configs import BROKER, DELETE, GROUP, SET, TOPIC, changing, describing
from .capture_metadata import asking
from .capture_recorder import Recorder, main
from .capture_topics import creating, topic

CONFIG = {
    "auto.create.topics.enable": "false",
    "delete.topic.enable": "false",
    "num.partitions": "3",
    "max.request.partition.size.limit": "4",
    "log.retention.hours": "2",
    "log.roll.hours": "5",
    "message.max.bytes": "2000000",
    "log.cleanup.policy": "compact,delete",
    "compression.type": "gzip",
    "min.insync.replicas": "1",
    "group.consumer.session.timeout.ms": "50000",
    "ssl.keystore.password": "secret",
    "broker.rack": "rack-1",
}
KEYS = ["retention.ms", "segment.ms", "segment.jitter.ms", "max.message.bytes", "cleanup.policy", "compression.type"]
BROKER_KEYS = [*CONFIG, "log.retention.ms", "log.retention.minutes", "log.roll.ms"]


def capture(recorder: Recorder) -> None:
    """Record every case."""
    recorder.case("counts and configs are the broker's", 7, creating(topic("plain", -1, -1)))
    recorder.wait_for_topic("plain", 3)
    recorder.topic_id_of("plain")
    own = topic("own", 1, 1, {"retention.ms": "5000", "compression.type": "lz4"})
    recorder.case("some configs are the topic's", 7, creating(own))
    recorder.wait_for_topic("own", 1)
    recorder.topic_id_of("own")
    _metadata(recorder)
    _described(recorder)
    _changed(recorder)
    _deleted(recorder)


def _metadata(recorder: Recorder) -> None:
    for version in (0, 1, 4, 12):
        recorder.case("unknown topic, the broker creates none", version, asking("not-there", auto=True))
        recorder.case("invalid name, the broker creates none", version, asking("with blank", auto=True))
    recorder.case("three partitions, and the rack", 12, asking("plain"))
    recorder.case("a page of the broker's size", 0, DescribeTopicPartitionsRequest())
    recorder.case("a larger page than the broker's", 0, DescribeTopicPartitionsRequest(response_partition_limit=5))


def _described(recorder: Recorder) -> None:
    recorder.case("keys of a topic", 4, describing((TOPIC, "plain", KEYS)))
    recorder.case("keys of a topic with its own", 4, describing((TOPIC, "own", KEYS)))
    recorder.case("keys of the broker", 4, describing((BROKER, "1", BROKER_KEYS)))
    recorder.case("keys of all brokers", 4, describing((BROKER, "", None)))
    recorder.case("a key of a group", 4, describing((GROUP, "some", ["consumer.session.timeout.ms"])))


def _changed(recorder: Recorder) -> None:
    steps = {
        "log.retention.ms of all brokers": changing((BROKER, "", [("log.retention.ms", SET, "9000")])),
        "message.max.bytes of this broker": changing((BROKER, "1", [("message.max.bytes", SET, "3000000")])),
        "compression.type deleted": changing((BROKER, "", [("compression.type", DELETE, None)])),
    }
    for case, request in steps.items():
        recorder.case(case, 1, request)
        recorder.settle()
        recorder.case(f"{case}, a topic after that", 4, describing((TOPIC, "plain", KEYS)))
        recorder.case(f"{case}, the broker after that", 4, describing((BROKER, "1", BROKER_KEYS)))
    recorder.case("a topic created after that", 7, creating(topic("late", 1, 1), validate_only=True))


def _deleted(recorder: Recorder) -> None:
    for version in range(1, 6):
        request = DeleteTopicsRequest(topic_names=["plain", "not-there"], timeout_ms=30_000)
        recorder.case("deletion is disabled", version, request)
    by_name = DeleteTopicsRequest(topics=[DeleteTopicState(name="plain")], timeout_ms=30_000)
    recorder.case("deletion is disabled", 6, by_name)
    twice = DeleteTopicsRequest(topics=[DeleteTopicState(name="plain")] * 2, timeout_ms=0)
    recorder.case("deletion is disabled, named twice, no time", 6, twice)
    unknown = DeleteTopicsRequest(topics=[DeleteTopicState(topic_id=bytes(range(16)))], timeout_ms=30_000)
    recorder.case("deletion is disabled, by unknown id", 6, unknown)


if __name__ == "__main__":
    main(capture)
