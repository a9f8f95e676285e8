"""CreateTopics, DeleteTopics and CreatePartitions, every version: python -m tests.golden.capture_topics HOST:PORT.

Needs a fresh broker with default configuration.
"""

from collections.abc import Sequence

from fauxka.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fauxka.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from .capture_recorder import Recorder, main

CREATE_VERSIONS = range(2, 8)
DELETE_VERSIONS = range(1, 7)
DELETE_BY_ID_SINCE = 6
PARTITIONS_VERSIONS = range(4)
NEWEST = 7
TIMEOUT_MS = 30_000
UNKNOWN_ID = bytes(range(16))
ANOTHER_UNKNOWN_ID = bytes(range(1, 17))
INVALID_NAMES = {
    "an empty name": "",
    "one dot": ".",
    "two dots": "..",
    "three dots": "...",
    "249 characters": "a" * 249,
    "250 characters": "a" * 250,
    "a blank": "with blank",
    "not ASCII": "tópico",
    "a slash": "a/b",
    "a colon": "a:b",
    "a new line": "a\nb",
    "__consumer_offsets": "__consumer_offsets",
    "__cluster_metadata": "__cluster_metadata",
    "__transaction_state": "__transaction_state",
    "__share_group_state": "__share_group_state",
    "all legal characters": "aZ09._-",
}
BAD_CONFIGS: dict[str, dict[str, str | None]] = {
    "an unknown key": {"no.such.key": "1"},
    "an unknown key and a good one": {"retention.ms": "5", "no.such.key": "1"},
    "no number": {"retention.ms": "abc"},
    "an empty number": {"retention.ms": ""},
    "a number with blanks": {"retention.ms": " 1000 "},
    "a number with a plus": {"retention.ms": "+1000"},
    "a number beyond 64 bits": {"retention.ms": "9223372036854775808"},
    "an int beyond 32 bits": {"segment.bytes": "2147483648"},
    "below the least": {"retention.ms": "-2"},
    "segment.bytes below the least": {"segment.bytes": "1000"},
    "a null value": {"retention.ms": None},
    "a null value of an unknown key": {"no.such.key": None},
    "an unknown policy": {"cleanup.policy": "remove"},
    "an empty policy": {"cleanup.policy": ""},
    "a policy twice": {"cleanup.policy": "delete,delete"},
    "a policy with blanks": {"cleanup.policy": "compact, delete"},
    "an unknown compression": {"compression.type": "brotli"},
    "compression in capitals": {"compression.type": "GZIP"},
    "no boolean": {"preallocate": "yes"},
    "a boolean in capitals": {"preallocate": "TRUE"},
    "no double": {"min.cleanable.dirty.ratio": "x"},
    "a double above the most": {"min.cleanable.dirty.ratio": "1.5"},
    "min.insync.replicas 0": {"min.insync.replicas": "0"},
    "an unknown timestamp type": {"message.timestamp.type": "Now"},
    "compression level": {"compression.gzip.level": "10"},
    "compression level 0": {"compression.gzip.level": "0"},
    "remote storage without the system": {"remote.storage.enable": "true"},
    "local retention above retention": {"local.retention.ms": "10", "retention.ms": "5"},
    "min compaction lag above max": {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"},
    "a key of the broker": {"log.retention.ms": "5"},
    "a removed key": {"message.format.version": "3.0"},
    "throttled replicas": {"leader.replication.throttled.replicas": "0:1,1:1"},
    "throttled replicas of any": {"leader.replication.throttled.replicas": "*"},
    "throttled replicas no list": {"leader.replication.throttled.replicas": "nonsense"},
    "two bad ones": {"retention.ms": "abc", "segment.bytes": "x"},
}
GOOD_CONFIGS: dict[str, dict[str, str | None]] = {
    "one": {"retention.ms": "1000"},
    "the default's own value": {"retention.ms": "604800000"},
    "several": {"cleanup.policy": "compact,delete", "max.message.bytes": "2000", "compression.type": "zstd"},
    "every kind": {
        "preallocate": "true",
        "min.cleanable.dirty.ratio": "0.25",
        "message.timestamp.type": "LogAppendTime",
    },
}


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _create(recorder)
    _names(recorder)
    _counts(recorder)
    _assignments(recorder)
    _configs(recorder)
    _several(recorder)
    _delete(recorder)
    _delete_by_id(recorder)
    _partitions(recorder)
    _partitions_errors(recorder)


def topic(
    name: str,
    partition_count: int = 1,
    replication_factor: int = 1,
    configs: dict[str, str | None] | None = None,
    assignments: Sequence[tuple[int, list[int]]] = (),
) -> CreatableTopic:
    """Return a topic to create; an assignment is (partition, broker ids)."""
    entries = [CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()]
    return CreatableTopic(
        name=name,
        num_partitions=partition_count,
        replication_factor=replication_factor,
        configs=entries,
        assignments=[CreatableReplicaAssignment(partition_index=index, broker_ids=ids) for index, ids in assignments],
    )


def creating(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    """Return a CreateTopics request."""
    return CreateTopicsRequest(topics=list(topics), timeout_ms=TIMEOUT_MS, validate_only=validate_only)


def described(*names: str) -> MetadataRequest:
    """Return a Metadata request that creates nothing."""
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False)


def _create(recorder: Recorder) -> None:
    for version in CREATE_VERSIONS:
        recorder.case("three partitions", version, creating(topic(f"created-v{version}", 3)))
        recorder.case("existing topic", version, creating(topic(f"created-v{version}", 3)))
        recorder.case("validate only", version, creating(topic(f"validated-v{version}", 2), validate_only=True))
        recorder.case(
            "validate only, existing topic", version, creating(topic(f"created-v{version}"), validate_only=True)
        )
        recorder.case("counts of -1", version, creating(topic(f"defaults-v{version}", -1, -1)))
        with_config = topic(f"configured-v{version}", 1, 1, {"retention.ms": "1000"})
        recorder.case("with a config", version, creating(with_config))
        recorder.case("an invalid name", version, creating(topic("with blank")))
        recorder.settle()
        recorder.case(
            "what came of it", 12, described(*(f"{name}-v{version}" for name in ("created", "validated", "defaults")))
        )
    recorder.case("timeout 0", NEWEST, CreateTopicsRequest(topics=[topic("no-time")], timeout_ms=0))
    recorder.case("timeout -1", NEWEST, CreateTopicsRequest(topics=[topic("less-time")], timeout_ms=-1))
    recorder.settle()
    recorder.case("what came of that", 12, described("no-time", "less-time"))


def _names(recorder: Recorder) -> None:
    for case, name in INVALID_NAMES.items():
        recorder.case(case, NEWEST, creating(topic(name), validate_only=True))
    recorder.create_topic("dotted.name")
    recorder.case("a name that collides with an existing one", NEWEST, creating(topic("dotted_name")))
    recorder.create_topic("more.than_one")
    recorder.create_topic("more_than.two")
    recorder.case("a name that collides with one of two", NEWEST, creating(topic("more.than.two")))
    recorder.case("two new names that collide", NEWEST, creating(topic("new.name"), topic("new_name")))
    recorder.settle()
    recorder.case("which of them is there", 12, described("new.name", "new_name"))


def _counts(recorder: Recorder) -> None:
    for partition_count in (-2, -1, 0, 1, 2_147_483_647, 10_001):
        for replication_factor in (-2, -1, 0, 1, 2, 3):
            if partition_count in (-2, 0, 1) or (replication_factor in (0, 1) and partition_count < 0):
                asked = topic("counted", partition_count, replication_factor)
                case = f"{partition_count} partitions, replication factor {replication_factor}"
                recorder.case(case, NEWEST, creating(asked, validate_only=True))
    recorder.case("10001 partitions", NEWEST, creating(topic("many", 10_001), validate_only=True))
    two = creating(topic("many", 5_000), topic("as-many", 5_001), validate_only=True)
    recorder.case("10001 partitions in two topics", NEWEST, two)
    others = creating(topic("many", 10_001), topic("one"), topic("twice"), topic("twice"), topic("with blank"))
    recorder.case("10001 partitions, another topic and bad ones", NEWEST, others)
    recorder.case("2147483647 partitions", NEWEST, creating(topic("many", 2_147_483_647), validate_only=True))


def _assignments(recorder: Recorder) -> None:
    assignments: dict[str, list[tuple[int, list[int]]]] = {
        "one partition": [(0, [1])],
        "two partitions": [(0, [1]), (1, [1])],
        "two partitions the other way round": [(1, [1]), (0, [1])],
        "starting at 1": [(1, [1])],
        "a gap": [(0, [1]), (2, [1])],
        "the same partition twice": [(0, [1]), (0, [1])],
        "a negative partition": [(-1, [1])],
        "an unknown broker": [(0, [9])],
        "a known and an unknown broker": [(0, [1, 9])],
        "a negative broker": [(0, [-1])],
        "the same broker twice": [(0, [1, 1])],
        "no broker": [(0, [])],
        "different replication factors": [(0, [1]), (1, [])],
    }
    for case, asked in assignments.items():
        name = "assigned-" + case.replace(" ", "-")
        recorder.case(f"assignment: {case}", NEWEST, creating(topic(name, -1, -1, assignments=asked)))
    one = [(0, [1])]
    recorder.case("assignment and a partition count", NEWEST, creating(topic("both", 1, -1, assignments=one)))
    recorder.case("assignment and a replication factor", NEWEST, creating(topic("both", -1, 1, assignments=one)))
    recorder.case("assignment and both counts", NEWEST, creating(topic("both", 1, 1, assignments=one)))


def _configs(recorder: Recorder) -> None:
    for case, configs in BAD_CONFIGS.items():
        recorder.case(f"config: {case}", NEWEST, creating(topic("configured", 1, 1, configs), validate_only=True))
    for case, configs in GOOD_CONFIGS.items():
        recorder.case(f"config: {case}", NEWEST, creating(topic("configured", 1, 1, configs), validate_only=True))
    twice = topic("configured", 1, 1, {"retention.ms": "1"})
    twice.configs.append(CreatableTopicConfig(name="retention.ms", value="2"))
    recorder.case("config: the same key twice", NEWEST, creating(twice, validate_only=True))
    two = topic("with blank", 0, 9, {"retention.ms": "abc"})
    recorder.case("everything is wrong", NEWEST, creating(two))
    recorder.case("counts and a config are wrong", NEWEST, creating(topic("wrong", 0, 9, {"retention.ms": "abc"})))


def _several(recorder: Recorder) -> None:
    recorder.case("no topics", NEWEST, creating())
    recorder.case("the same name twice", NEWEST, creating(topic("twice", 1), topic("twice", 2)))
    recorder.case("three names, one of them twice", NEWEST, creating(topic("x"), topic("twice"), topic("twice")))
    mixed = (
        topic("good-b"),
        topic("with blank"),
        topic("x"),
        topic("good-a", 1, 1, {"no.such.key": "1"}),
        topic("good-c"),
    )
    recorder.case("good and bad ones", NEWEST, creating(*mixed))


def _delete(recorder: Recorder) -> None:
    for version in DELETE_VERSIONS:
        name = f"deleted-v{version}"
        recorder.create_topic(name)
        recorder.create_topic(f"{name}-too")
        recorder.case("an existing topic", version, deleting(version, name))
        recorder.settle()
        recorder.case("it is gone", 12, described(name))
        recorder.case("an unknown topic", version, deleting(version, name))
        recorder.case("an empty name", version, deleting(version, ""))
        recorder.case("an invalid name", version, deleting(version, "with blank"))
        recorder.case("known and unknown", version, deleting(version, "not-there", f"{name}-too"))
        recorder.create_topic(name)
        recorder.case("the same name twice", version, deleting(version, name, name))
        recorder.settle()
        recorder.case("is it gone", 12, described(name))
        recorder.case("no topics", version, deleting(version))
    recorder.create_topic("deleted-and-back")
    recorder.case("deleted to be created again", 6, deleting(6, "deleted-and-back"))
    recorder.case("created again", NEWEST, creating(topic("deleted-and-back")))


def deleting(version: int, *names: str) -> DeleteTopicsRequest:
    """Return a DeleteTopics request by name."""
    if version >= DELETE_BY_ID_SINCE:
        return DeleteTopicsRequest(topics=[DeleteTopicState(name=name) for name in names], timeout_ms=TIMEOUT_MS)
    return DeleteTopicsRequest(topic_names=list(names), timeout_ms=TIMEOUT_MS)


def _delete_by_id(recorder: Recorder) -> None:
    def by(*states: tuple[str | None, bytes]) -> DeleteTopicsRequest:
        topics = [DeleteTopicState(name=name, topic_id=topic_id) for name, topic_id in states]
        return DeleteTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)

    ids = [recorder.create_topic(f"by-id-{index}") for index in range(5)]
    version = DELETE_BY_ID_SINCE
    recorder.case("by id", version, by((None, ids[0])))
    recorder.settle()
    recorder.case("by the id of a deleted topic", version, by((None, ids[0])))
    recorder.case("by an unknown id", version, by((None, UNKNOWN_ID)))
    recorder.case("by name and id", version, by(("by-id-1", ids[1])))
    recorder.case("by another's name and id", version, by(("by-id-1", ids[2])))
    recorder.case("neither name nor id", version, by((None, bytes(16))))
    recorder.case("the same id twice", version, by((None, ids[1]), (None, ids[1])))
    recorder.case("a name and the same topic's id", version, by(("by-id-2", bytes(16)), (None, ids[2])))
    recorder.case("unknown name and unknown id", version, by(("not-there", bytes(16)), (None, ANOTHER_UNKNOWN_ID)))
    recorder.case("the same unknown id twice", version, by((None, UNKNOWN_ID), (None, UNKNOWN_ID)))
    timed_out = DeleteTopicsRequest(topics=[DeleteTopicState(name="by-id-4")], timeout_ms=0)
    recorder.case("timeout 0", version, timed_out)
    timed_out.topics = [DeleteTopicState(name="not-there"), DeleteTopicState(topic_id=ids[4])]
    recorder.case("timeout 0, by name and by id", version, timed_out)
    recorder.settle()
    recorder.case("what is left", 12, described("by-id-1", "by-id-2", "by-id-3", "by-id-4"))


def growing(name: str, count: int, assignments: Sequence[list[int]] | None = None) -> CreatePartitionsTopic:
    """Return a topic to create with that many partitions."""
    new = None if assignments is None else [CreatePartitionsAssignment(broker_ids=ids) for ids in assignments]
    return CreatePartitionsTopic(name=name, count=count, assignments=new)


def partitions_request(*topics: CreatePartitionsTopic, validate_only: bool = False) -> CreatePartitionsRequest:
    """Return a CreatePartitions request."""
    return CreatePartitionsRequest(topics=list(topics), timeout_ms=TIMEOUT_MS, validate_only=validate_only)


def _partitions(recorder: Recorder) -> None:
    for version in PARTITIONS_VERSIONS:
        name = f"growing-v{version}"
        recorder.create_topic(name, 2)
        recorder.case("from 2 to 3, only validated", version, partitions_request(growing(name, 3), validate_only=True))
        recorder.case("from 2 to 3", version, partitions_request(growing(name, 3)))
        recorder.case("the same number", version, partitions_request(growing(name, 3)))
        recorder.case("fewer", version, partitions_request(growing(name, 1)))
        recorder.case("unknown topic", version, partitions_request(growing("not-there", 3)))
        recorder.wait_for_topic(name, 3)
        recorder.case("what came of it", 12, described(name))


def _partitions_errors(recorder: Recorder) -> None:
    newest = PARTITIONS_VERSIONS[-1]
    name = "growing-v0"
    for count in (0, -1, -2, 10_004, 2_147_483_647):
        asked = partitions_request(growing(name, count), validate_only=True)
        recorder.case(f"count {count}", newest, asked)
    assignments: dict[str, list[list[int]]] = {
        "one": [[1]],
        "too many": [[1], [1]],
        "none": [],
        "unknown broker": [[9]],
        "no broker": [[]],
        "two brokers": [[1, 9]],
        "the same broker twice": [[1, 1]],
        "negative broker": [[-1]],
    }
    for case, asked_assignments in assignments.items():
        asked = partitions_request(growing(name, 4, asked_assignments), validate_only=True)
        recorder.case(f"assignments: {case}", newest, asked)
    recorder.case("assignments: too few", newest, partitions_request(growing(name, 5, [[1]]), validate_only=True))
    recorder.case("assignments: applied", newest, partitions_request(growing(name, 4, [[1]])))
    recorder.case("same number with assignments", newest, partitions_request(growing(name, 4, [[1]])))
    recorder.case("the same topic twice", newest, partitions_request(growing(name, 6), growing(name, 7)))
    recorder.case("an invalid name", newest, partitions_request(growing("with blank", 3)))
    recorder.case("an empty name", newest, partitions_request(growing("", 3)))
    recorder.case("no topics", newest, partitions_request())
    mixed = (
        growing("not-there", 3),
        growing("growing-v1", 4),
        growing("growing-v2", 1),
        growing(name, 6),
        growing(name, 6),
    )
    recorder.case("good and bad ones", newest, partitions_request(*mixed))
    timed_out = partitions_request(growing(name, 5), growing("not-there", 5))
    timed_out.timeout_ms = 0
    recorder.case("timeout 0", newest, timed_out)
    recorder.settle()
    recorder.case("what came of it", 12, described("growing-v0", "growing-v1"))


if __name__ == "__main__":
    main(capture)
