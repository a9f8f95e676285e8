"""Effects of CreateTopics, CreatePartitions, DeleteTopics and DeleteRecords on the cluster."""

from fauxka.broker.handlers.records import delete_records
from fauxka.broker.handlers.topics import create_partitions, delete_topics, describe_log_dirs
from fauxka.protocol.error_codes import ErrorCode
from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.create_topics import CreatableReplicaAssignment, CreatableTopic
from fauxka.protocol.messages.delete_records import DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest
from fauxka.protocol.messages.describe_log_dirs import DescribeLogDirsRequest

from ..steps import result_of
from .admin_scene import AdminScene

MORE_THAN_A_REQUEST_MAY = 2**31 - 1


def grow(scene: AdminScene, name: str, count: int) -> int:
    request = CreatePartitionsRequest(topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)])
    request.timeout_ms = 30_000
    response = result_of(create_partitions.handle(scene.context(3), request))
    return response.results[0].error_code


def test_assigned_partitions_are_created() -> None:
    scene = AdminScene()
    assignments = [CreatableReplicaAssignment(partition_index=index, broker_ids=[1]) for index in (1, 0)]
    asked = CreatableTopic(name="assigned", num_partitions=-1, replication_factor=-1, assignments=assignments)

    scene.create_topics(asked)

    assert [partition.index for partition in scene.cluster.image.topics["assigned"].partitions] == [0, 1]


def test_refused_topic_does_not_affect_the_others_of_its_request() -> None:
    scene = AdminScene()
    asked = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in ("good", "b a d", "fine")]

    scene.create_topics(*asked)

    assert set(scene.cluster.image.topics) == {"good", "fine"}


def test_more_than_10_000_new_partitions_are_refused_and_none_is_created() -> None:
    scene = AdminScene()
    scene.topic("small")
    huge = CreatableTopic(name="huge", num_partitions=MORE_THAN_A_REQUEST_MAY, replication_factor=1)

    created = scene.create_topics(huge).topics[0].error_code
    grown = grow(scene, "small", MORE_THAN_A_REQUEST_MAY)

    assert (created, grown) == (ErrorCode.POLICY_VIOLATION, ErrorCode.UNKNOWN_SERVER_ERROR)
    assert len(scene.cluster.image.topics["small"].partitions) == 1


def test_records_stay_when_partitions_are_added() -> None:
    scene = AdminScene()
    topic = scene.topic("growing")
    scene.append(topic)

    grow(scene, "growing", 3)

    assert [partition.log.log_end_offset for partition in scene.cluster.node.replicas.partitions_of(topic)] == [1, 0, 0]


def test_topic_created_after_its_deletion_has_another_id() -> None:
    scene = AdminScene()
    before = scene.topic("again")
    scene.append(before)
    request = DeleteTopicsRequest(topic_names=["again"], timeout_ms=30_000)

    result_of(delete_topics.handle(scene.context(5), request))
    after = scene.topic("again")

    assert after.topic_id != before.topic_id
    assert scene.partition_of(after, 0).log.log_end_offset == 0


def test_deleted_records_are_removed_with_their_segments() -> None:
    scene = AdminScene()
    topic = scene.topic("rolled", segment_ms="1000")
    for _ in range(3):
        scene.append(topic)
        scene.clock.advance(2000)
    size = scene.partition_of(topic, 0).log.size_bytes
    asked = DeleteRecordsTopic(name="rolled", partitions=[DeleteRecordsPartition(partition_index=0, offset=2)])

    result_of(delete_records.handle(scene.context(2), DeleteRecordsRequest(topics=[asked], timeout_ms=30_000)))
    scene.cluster.node.replicas.enforce_retention()

    assert scene.partition_of(topic, 0).log.size_bytes == size / 3


def test_log_directory_is_as_large_as_its_partitions() -> None:
    scene = AdminScene()
    topic = scene.topic("sized")
    scene.append(topic)

    response = result_of(describe_log_dirs.handle(scene.context(5), DescribeLogDirsRequest(topics=None)))

    partition = response.results[0].topics[0].partitions[0]
    assert partition.partition_size == scene.partition_of(topic, 0).log.size_bytes > 0
