"""Share groups: their members, fetches, acknowledgements and offsets."""

from fauxka.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.delete_share_group_state import DeleteShareGroupStateRequest, DeleteStateData
from fauxka.protocol.messages.delete_share_group_state import PartitionData as DeletePartition
from fauxka.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from fauxka.protocol.messages.initialize_share_group_state import InitializeShareGroupStateRequest, InitializeStateData
from fauxka.protocol.messages.initialize_share_group_state import PartitionData as InitializePartition
from fauxka.protocol.messages.read_share_group_state import PartitionData as ReadPartition
from fauxka.protocol.messages.read_share_group_state import ReadShareGroupStateRequest, ReadStateData
from fauxka.protocol.messages.read_share_group_state_summary import PartitionData as SummaryPartition
from fauxka.protocol.messages.read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)
from fauxka.protocol.messages.share_fetch import ShareFetchRequest, ShareFetchResponse
from fauxka.protocol.messages.write_share_group_state import PartitionData as WritePartition
from fauxka.protocol.messages.write_share_group_state import WriteShareGroupStateRequest, WriteStateData

from ...messages import replaced
from ..acl_recorder import AclCase, each
from ..acl_scene import MISSING_ID, SHARE_MEMBER, Scene
from ..acls import Acls, on_cluster, on_group, on_topic
from ..failover.coordinator_requests import acknowledging, describing_sharers, share_fetching, sharing
from ..failover.requests import Topic
from .offsets import acls_of_group_and_topics
from .several import joined

_READ = on_group("group", "READ")


def _join(scene: Scene) -> None:
    scene.send(1, sharing(scene.name("group"), SHARE_MEMBER, 0, scene.topic("topic")))


def _join_with_missing_topic(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.missing_topic("missing")]
    request = sharing(scene.name("group"), SHARE_MEMBER, 0, topics[0])
    scene.send(1, replaced(request, subscribed_topic_names=[topic.name for topic in topics]))


def _beat(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.share_member("group", topic)
    scene.send(1, sharing(scene.name("group"), SHARE_MEMBER, -1, topic))


def _describe(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.share_member("group", topic)
    scene.share_member("other", topic)
    groups = (scene.name("group"), scene.name("other"), scene.name("missing"))
    request = joined("group_ids", *(describing_sharers(group) for group in groups))
    scene.send(1, replaced(request, include_authorized_operations=True))


def _shared(scene: Scene, record_count: int = 0) -> list[Topic]:
    """Return two topics with a share group that has a member."""
    topics = [scene.topic("topic", record_count=record_count), scene.topic("other", record_count=record_count)]
    scene.share_member("group", *topics)
    return topics


def _fetching(scene: Scene, *topics: Topic) -> ShareFetchRequest:
    requests = (share_fetching(scene.name("group"), SHARE_MEMBER, 0, topic) for topic in topics)
    return replaced(joined("topics", *requests), max_wait_ms=0, min_bytes=0)


def _fetch_first(scene: Scene, *topics: Topic, are_acquired: bool = False) -> None:
    """Open a session of the member as the super user, until the topics are there, and a record of each acquired.

    A broker that has not led a partition for this group before answers a fetch before it has read its state.
    """
    fetched: set[bytes] = set()

    def are_fetched() -> bool:
        response = scene.admin.call(_fetching(scene, *topics), 1, ShareFetchResponse)
        assert response.error_code == 0, response
        for topic in response.responses:
            if topic.partitions[0].acquired_records or not are_acquired:
                fetched.add(topic.topic_id)
        return len(fetched) == len(topics)

    scene.admin.expect_that(are_fetched, "share partitions")


def _fetch(scene: Scene) -> None:
    topics = _shared(scene)
    _fetch_first(scene, *topics)
    scene.send(1, _fetching(scene, *topics))


def _fetch_missing(scene: Scene) -> None:
    scene.send(1, _fetching(scene, scene.missing_topic("missing")))


def _acknowledge(scene: Scene) -> None:
    scene.group_config("group", share_auto_offset_reset="earliest")
    topics = _shared(scene, record_count=1)
    _fetch_first(scene, *topics, are_acquired=True)
    requests = [acknowledging(scene.name("group"), SHARE_MEMBER, 1, topic, 0) for topic in topics]
    scene.send(1, joined("topics", *requests))


def _empty_group(scene: Scene) -> list[Topic]:
    """Return two topics with a share group without members, and one that does not exist."""
    topics = _shared(scene)
    scene.admin.call(sharing(scene.name("group"), SHARE_MEMBER, -1, topics[0]), 1)
    return [*topics, scene.missing_topic("missing")]


def _describe_offsets(scene: Scene) -> None:
    asked = [
        DescribeShareGroupOffsetsRequestTopic(topic_name=topic.name, partitions=[0]) for topic in _empty_group(scene)
    ]
    group = DescribeShareGroupOffsetsRequestGroup(group_id=scene.name("group"), topics=asked)
    scene.send(0, DescribeShareGroupOffsetsRequest(groups=[group]))


def _describe_all_offsets(scene: Scene) -> None:
    _empty_group(scene)
    group = DescribeShareGroupOffsetsRequestGroup(group_id=scene.name("group"), topics=None)
    scene.send(0, DescribeShareGroupOffsetsRequest(groups=[group]))


def _alter_offsets(scene: Scene) -> None:
    topics = [
        AlterShareGroupOffsetsRequestTopic(
            topic_name=topic.name,
            partitions=[AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)],
        )
        for topic in _empty_group(scene)
    ]
    scene.send(0, AlterShareGroupOffsetsRequest(group_id=scene.name("group"), topics=topics))


def _delete_offsets(scene: Scene) -> None:
    topics = [DeleteShareGroupOffsetsRequestTopic(topic_name=topic.name) for topic in _empty_group(scene)]
    scene.send(0, DeleteShareGroupOffsetsRequest(group_id=scene.name("group"), topics=topics))


def _read_state(scene: Scene) -> None:
    state = ReadStateData(topic_id=MISSING_ID, partitions=[ReadPartition(partition=0)])
    scene.send(0, ReadShareGroupStateRequest(group_id=scene.name("group"), topics=[state]))


def _write_state(scene: Scene) -> None:
    state = WriteStateData(topic_id=MISSING_ID, partitions=[WritePartition(partition=0)])
    scene.send(0, WriteShareGroupStateRequest(group_id=scene.name("group"), topics=[state]))


def _initialize_state(scene: Scene) -> None:
    state = InitializeStateData(topic_id=MISSING_ID, partitions=[InitializePartition(partition=0)])
    scene.send(0, InitializeShareGroupStateRequest(group_id=scene.name("group"), topics=[state]))


def _delete_state(scene: Scene) -> None:
    state = DeleteStateData(topic_id=MISSING_ID, partitions=[DeletePartition(partition=0)])
    scene.send(0, DeleteShareGroupStateRequest(group_id=scene.name("group"), topics=[state]))


def _read_summary(scene: Scene) -> None:
    state = ReadStateSummaryData(topic_id=MISSING_ID, partitions=[SummaryPartition(partition=0)])
    scene.send(0, ReadShareGroupStateSummaryRequest(group_id=scene.name("group"), topics=[state]))


# The APIs between brokers.
_STATE_ACLS: dict[str, Acls] = {
    "no ACL": (),
    "ALL of the group": on_group("*", "ALL"),
    "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION"),
}
_MEMBER_ACLS: dict[str, Acls] = {
    "no ACL": (),
    "READ": _READ,
    "DESCRIBE of the topic": on_topic("topic", "DESCRIBE"),
    "DESCRIBE, DESCRIBE of the topic": on_group("group", "DESCRIBE") + on_topic("topic", "DESCRIBE"),
    "READ, DESCRIBE of the topic": _READ + on_topic("topic", "DESCRIBE"),
    "READ, DESCRIBE of all topics": _READ + on_topic("*", "DESCRIBE"),
}
_DESCRIPTIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_group("group", "DESCRIBE"),
    "DESCRIBE, DESCRIBE of the topic": on_group("group", "DESCRIBE") + on_topic("topic", "DESCRIBE"),
    "ALL for all groups and topics": on_group("*", "ALL") + on_topic("*", "ALL"),
}

CASES: list[AclCase] = [
    *each("ShareGroupHeartbeat v1", _join, _MEMBER_ACLS),
    *each("ShareGroupHeartbeat v1 with a topic that does not exist", _join_with_missing_topic, _MEMBER_ACLS),
    *each("ShareGroupHeartbeat v1 of a member", _beat, {"no ACL": (), "READ": _READ}),
    *each("ShareGroupDescribe v1", _describe, _DESCRIPTIONS),
    *each("ShareFetch v1", _fetch, acls_of_group_and_topics("READ", "DESCRIBE", "READ")),
    *each("ShareFetch v1 of a topic that does not exist", _fetch_missing, {"no ACL": (), "READ of the group": _READ}),
    *each("ShareAcknowledge v1", _acknowledge, acls_of_group_and_topics("READ", "DESCRIBE", "READ")),
    *each(
        "DescribeShareGroupOffsets v0",
        _describe_offsets,
        acls_of_group_and_topics("DESCRIBE", "DESCRIBE_CONFIGS", "DESCRIBE"),
    ),
    *each(
        "DescribeShareGroupOffsets v0 of all topics",
        _describe_all_offsets,
        acls_of_group_and_topics("DESCRIBE", "DESCRIBE_CONFIGS", "DESCRIBE"),
    ),
    *each("AlterShareGroupOffsets v0", _alter_offsets, acls_of_group_and_topics("READ", "DESCRIBE", "READ")),
    *each("DeleteShareGroupOffsets v0", _delete_offsets, acls_of_group_and_topics("DELETE", "READ", "READ")),
    *each("ReadShareGroupState v0", _read_state, _STATE_ACLS),
    *each("WriteShareGroupState v0", _write_state, _STATE_ACLS),
    *each("InitializeShareGroupState v0", _initialize_state, _STATE_ACLS),
    *each("DeleteShareGroupState v0", _delete_state, _STATE_ACLS),
    *each("ReadShareGroupStateSummary v0", _read_summary, _STATE_ACLS),
]
