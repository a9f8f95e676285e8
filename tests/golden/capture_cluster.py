"""DescribeCluster, DescribeTopicPartitions, DescribeLogDirs, DescribeProducers, ListPartitionReassignments and
DeleteRecords, every version: python -m tests.golden.capture_cluster HOST:PORT.

Needs a fresh broker with default configuration.
"""

from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest
from fauxka.protocol.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from fauxka.protocol.messages.describe_producers import DescribeProducersRequest
from fauxka.protocol.messages.describe_producers import TopicRequest as ProducersTopic
from fauxka.protocol.messages.describe_topic_partitions import Cursor, DescribeTopicPartitionsRequest, TopicRequest
from fauxka.protocol.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from fauxka.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from .capture_batches import FIRST_TIMESTAMP, batch
from .capture_recorder import Recorder, main

THREE = batch([FIRST_TIMESTAMP + delta for delta in range(3)])
LOG_DIRS_VERSIONS = range(1, 6)


def capture(recorder: Recorder) -> None:
    """Record every case."""
    _log_dirs_of_an_empty_cluster(recorder)
    recorder.create_topic("b-three", 3, retention_ms="-1")
    recorder.create_topic("a-two", 2, retention_ms="-1")
    recorder.create_topic("c-one", 1, retention_ms="-1")
    _describe_cluster(recorder)
    _describe_topic_partitions(recorder)
    _cursors(recorder)
    _log_dirs(recorder)
    _producers(recorder)
    _reassignments(recorder)
    _delete_records(recorder)
    _delete_records_errors(recorder)


def _describe_cluster(recorder: Recorder) -> None:
    for version in range(3):
        recorder.case("the cluster", version, DescribeClusterRequest())
        authorized = DescribeClusterRequest(include_cluster_authorized_operations=True)
        recorder.case("with authorized operations", version, authorized)
    for version in (1, 2):
        for endpoint_type in (0, 1, 2, 3, -1):
            request = DescribeClusterRequest(endpoint_type=endpoint_type)
            recorder.case(f"endpoint type {endpoint_type}", version, request)
    recorder.case("with fenced brokers", 2, DescribeClusterRequest(include_fenced_brokers=True))
    recorder.case("fenced controllers", 2, DescribeClusterRequest(include_fenced_brokers=True, endpoint_type=2))


def describing(*names: str, limit: int = 2000, cursor: Cursor | None = None) -> DescribeTopicPartitionsRequest:
    """Return a DescribeTopicPartitions request."""
    topics = [TopicRequest(name=name) for name in names]
    return DescribeTopicPartitionsRequest(topics=topics, response_partition_limit=limit, cursor=cursor)


def _describe_topic_partitions(recorder: Recorder) -> None:
    cases = {
        "all topics": describing(),
        "one topic": describing("b-three"),
        "two in another order than the alphabet's": describing("c-one", "a-two"),
        "the same topic twice": describing("c-one", "c-one"),
        "an unknown topic": describing("not-there"),
        "an unknown and a known one": describing("zz", "b-three", "aa"),
        "an empty name": describing(""),
        "an invalid name": describing("with blank", "a" * 250, "."),
    }
    for case, request in cases.items():
        recorder.case(case, 0, request)
    for limit in (-1, 0, 1, 2, 3, 4, 5, 6, 7, 2001):
        recorder.case(f"all topics, limit {limit}", 0, describing(limit=limit))
    recorder.case("unknown topics and limit 1", 0, describing("aa", "a-two", "zz", limit=1))
    recorder.case("unknown topics and limit 2", 0, describing("aa", "a-two", "zz", limit=2))
    recorder.case("unknown topic first and limit 1", 0, describing("aa", "b-three", limit=1))


def _cursors(recorder: Recorder) -> None:
    cursors = {
        "the first topic's second partition": Cursor(topic_name="a-two", partition_index=1),
        "beyond the topic's partitions": Cursor(topic_name="a-two", partition_index=2),
        "the second topic's start": Cursor(topic_name="b-three", partition_index=0),
        "the second topic's last": Cursor(topic_name="b-three", partition_index=2),
        "an unknown topic between two": Cursor(topic_name="a-zzz", partition_index=1),
        "an unknown topic after all": Cursor(topic_name="zzz", partition_index=0),
        "partition -1": Cursor(topic_name="b-three", partition_index=-1),
        "an empty name": Cursor(topic_name="", partition_index=0),
    }
    for case, cursor in cursors.items():
        recorder.case(f"all topics, cursor at {case}", 0, describing(cursor=cursor))
        named = describing("c-one", "b-three", "a-two", cursor=cursor)
        recorder.case(f"three topics by name, cursor at {case}", 0, named)
        recorder.case(f"limit 2, cursor at {case}", 0, describing(cursor=cursor, limit=2))
    first = describing("c-one", cursor=Cursor(topic_name="b-three", partition_index=1))
    recorder.case("the cursor's topic is not asked for", 0, first)
    unknown = describing("a-two", "not-there", cursor=Cursor(topic_name="not-there", partition_index=1))
    recorder.case("the cursor's topic is asked for and does not exist", 0, unknown)


def log_dirs(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    """Return a DescribeLogDirs request for these topics."""
    entries = [DescribableLogDirTopic(topic=topic, partitions=partitions) for topic, partitions in topics]
    return DescribeLogDirsRequest(topics=entries)


def _log_dirs_of_an_empty_cluster(recorder: Recorder) -> None:
    for version in LOG_DIRS_VERSIONS:
        recorder.case("an empty cluster, all topics", version, DescribeLogDirsRequest(topics=None))


def _log_dirs(recorder: Recorder) -> None:
    recorder.produce("a-two", THREE, THREE, partition=1)
    for version in LOG_DIRS_VERSIONS:
        recorder.case("all topics", version, DescribeLogDirsRequest(topics=None))
        recorder.case("one partition with records", version, log_dirs(("a-two", [1])))
        recorder.case("no topics", version, log_dirs())
    newest = LOG_DIRS_VERSIONS[-1]
    recorder.case("two topics", newest, log_dirs(("b-three", [2, 0]), ("a-two", [0, 1])))
    recorder.case("unknown topic", newest, log_dirs(("not-there", [0])))
    recorder.case("unknown partition", newest, log_dirs(("a-two", [0, 9])))
    recorder.case("a topic without partitions", newest, log_dirs(("a-two", [])))
    recorder.case("the same topic twice", newest, log_dirs(("a-two", [0]), ("a-two", [1])))


def producers_of(*topics: tuple[str, list[int]]) -> DescribeProducersRequest:
    """Return a DescribeProducers request."""
    return DescribeProducersRequest(
        topics=[ProducersTopic(name=name, partition_indexes=partitions) for name, partitions in topics]
    )


def _producers(recorder: Recorder) -> None:
    recorder.create_topic("produced", 2, retention_ms="-1")
    recorder.case("a partition without producers", 0, producers_of(("produced", [0])))
    stamps = [FIRST_TIMESTAMP, FIRST_TIMESTAMP + 1]
    recorder.produce("produced", batch(stamps, producer=(4000, 0, 0)), batch(stamps, producer=(4000, 0, 2)))
    recorder.case("one producer, two batches", 0, producers_of(("produced", [0])))
    recorder.produce("produced", batch(stamps, producer=(4000, 2, 0)), batch(stamps))
    recorder.case("after a bump of its epoch", 0, producers_of(("produced", [0])))
    recorder.produce("produced", batch(stamps, producer=(4001, 0, 0)), partition=1)
    recorder.case("two partitions", 0, producers_of(("produced", [1, 0])))
    recorder.case("unknown topic", 0, producers_of(("not-there", [0])))
    recorder.case("unknown partition", 0, producers_of(("produced", [2, 0, -1])))
    recorder.case("invalid topic name", 0, producers_of(("with blank", [0])))
    recorder.case("empty topic name", 0, producers_of(("", [0])))
    recorder.case("known and unknown topics", 0, producers_of(("not-there", [0, 1]), ("a-two", [0]), ("b-three", [9])))
    recorder.case("the same partition twice", 0, producers_of(("produced", [0, 0])))
    recorder.case("no topics", 0, producers_of())
    recorder.case("a topic without partitions", 0, producers_of(("produced", [])))


def _reassignments(recorder: Recorder) -> None:
    recorder.case("null for all", 0, ListPartitionReassignmentsRequest(topics=None, timeout_ms=30_000))
    asked = {
        "a topic": [("a-two", [0, 1])],
        "an unknown topic": [("not-there", [0])],
        "an unknown partition": [("a-two", [9])],
        "a topic without partitions": [("a-two", list[int]())],
        "no topics": list[tuple[str, list[int]]](),
    }
    for case, topics in asked.items():
        entries = [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=partitions) for name, partitions in topics
        ]
        recorder.case(case, 0, ListPartitionReassignmentsRequest(topics=entries, timeout_ms=30_000))


def deleting(*topics: tuple[str, list[tuple[int, int]]]) -> DeleteRecordsRequest:
    """Return a DeleteRecords request; a partition is (index, offset)."""
    entries = [
        DeleteRecordsTopic(
            name=name,
            partitions=[DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in partitions],
        )
        for name, partitions in topics
    ]
    return DeleteRecordsRequest(topics=entries, timeout_ms=30_000)


def earliest(name: str) -> ListOffsetsRequest:
    """Return a request for the log start of partition 0."""
    asked = [ListOffsetsPartition(partition_index=0, timestamp=-2)]
    return ListOffsetsRequest(replica_id=-1, topics=[ListOffsetsTopic(name=name, partitions=asked)])


def _delete_records(recorder: Recorder) -> None:
    for version in range(3):
        name = f"records-v{version}"
        recorder.create_topic(name, 2, retention_ms="-1")
        recorder.produce(name, THREE, THREE)
        for offset in (0, 2, 1, 5, -2, 7, -1, 6, 0):
            recorder.case(f"up to offset {offset}", version, deleting((name, [(0, offset)])))
            recorder.case("the log start after that", 7, earliest(name))
        recorder.case("an empty partition, up to -1", version, deleting((name, [(1, -1)])))
        recorder.case("an empty partition, up to 0", version, deleting((name, [(1, 0)])))
        recorder.case("an empty partition, up to 1", version, deleting((name, [(1, 1)])))
        recorder.produce(name, THREE)
        recorder.case("the log start after a new batch", 7, earliest(name))


def _delete_records_errors(recorder: Recorder) -> None:
    recorder.create_topic("compacted", 1, cleanup_policy="compact")
    recorder.create_topic("compacted-too", 1, cleanup_policy="compact,delete", retention_ms="-1")
    recorder.create_topic("good", 2, retention_ms="-1")
    recorder.produce("compacted-too", batch([FIRST_TIMESTAMP + delta for delta in range(3)]))
    recorder.produce("good", THREE)
    recorder.case("a compacted topic", 2, deleting(("compacted", [(0, 0)])))
    recorder.case("a compacted and deleted topic", 2, deleting(("compacted-too", [(0, 2)])))
    for version in range(3):
        recorder.case("unknown topic", version, deleting(("not-there", [(0, 0)])))
    recorder.case("unknown partition", 2, deleting(("good", [(2, 0), (0, 1), (-1, 0)])))
    recorder.case("invalid topic name", 2, deleting(("with blank", [(0, 0)])))
    recorder.case("known and unknown topics", 2, deleting(("not-there", [(0, 0), (1, 0)]), ("good", [(0, 2)])))
    recorder.case("the same partition twice", 2, deleting(("good", [(0, 2), (0, 3)])))
    recorder.case("no topics", 2, deleting())
    recorder.call(MetadataRequest(topics=[MetadataRequestTopic(name="__consumer_offsets")]), 12)
    recorder.wait_for_topic("__consumer_offsets", 1)
    recorder.case("an internal topic", 2, deleting(("__consumer_offsets", [(0, 0)])))
    recorder.case("the description of an internal topic", 0, describing("__consumer_offsets"))
    recorder.case("a topic without partitions", 2, deleting(("good", [])))


if __name__ == "__main__":
    main(capture)
