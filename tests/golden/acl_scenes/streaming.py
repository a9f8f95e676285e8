"""Groups of the streams protocol: joins whose internal topics the broker creates, and descriptions."""

from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from fauxka.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from fauxka.protocol.messages.streams_group_heartbeat import (
    KeyValue,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    Subtopology,
    TopicInfo,
    Topology,
)

from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_group, on_topic

MEMBER = "member"
COMPACT = KeyValue(key="cleanup.policy", value="compact")
REBALANCE_TIMEOUT_MS = 60_000


def _joining(scene: Scene) -> StreamsGroupHeartbeatRequest:
    subtopology = Subtopology(
        subtopology_id="0",
        source_topics=[scene.name("orders")],
        state_changelog_topics=[TopicInfo(name=scene.name("changelog"), topic_configs=[COMPACT])],
    )
    return StreamsGroupHeartbeatRequest(
        group_id=scene.name("group"),
        member_id=MEMBER,
        rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
        topology=Topology(subtopologies=[subtopology]),
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        process_id="process",
    )


def _join(scene: Scene) -> None:
    scene.topic("orders")
    joined = scene.send(0, _joining(scene))
    if isinstance(joined, StreamsGroupHeartbeatResponse) and joined.error_code == 0:
        scene.send(0, _beating(scene, joined.member_epoch))


def _join_and_wait(scene: Scene) -> None:
    """Join, and send another heartbeat when the internal topic is there."""
    scene.topic("orders")
    joined = scene.send(0, _joining(scene))
    assert isinstance(joined, StreamsGroupHeartbeatResponse), joined
    name = scene.name("changelog")

    def exists() -> bool:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
        return scene.admin.call(request, 12, MetadataResponse).topics[0].error_code == 0

    scene.admin.expect_that(exists, f"the topic {name}")
    # The coordinator sees it a little later.
    scene.admin.settle()
    scene.send(0, _beating(scene, joined.member_epoch))


def _beating(scene: Scene, epoch: int) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(group_id=scene.name("group"), member_id=MEMBER, member_epoch=epoch)


def _describe(scene: Scene) -> None:
    scene.topic("orders")
    scene.topic("changelog")
    scene.set_up.append("group group with a member of the streams protocol")
    joined = scene.admin.call(_joining(scene), 0, StreamsGroupHeartbeatResponse)
    assert joined.error_code == 0, joined
    groups = [scene.name("group"), scene.name("missing")]
    scene.send(0, StreamsGroupDescribeRequest(group_ids=groups, include_authorized_operations=True))


_READ = on_group("group", "READ")
_DESCRIBE = on_group("group", "DESCRIBE")
_TOPICS = on_topic("orders", "DESCRIBE") + on_topic("changelog", "DESCRIBE")
_JOINS: dict[str, Acls] = {
    "no ACL": (),
    "READ": _READ,
    "DESCRIBE of the topics": _TOPICS,
    "READ, and DESCRIBE of the source topic": _READ + on_topic("orders", "DESCRIBE"),
    "READ, and DESCRIBE of the changelog": _READ + on_topic("changelog", "DESCRIBE"),
    "READ, and DESCRIBE of the topics": _READ + _TOPICS,
    "READ, and CREATE of the source topic": _READ + _TOPICS + on_topic("orders", "CREATE"),
}
_CREATORS: dict[str, Acls] = {
    "CREATE of the changelog": _READ + _TOPICS + on_topic("changelog", "CREATE"),
    "CREATE of the cluster": _READ + _TOPICS + on_cluster("CREATE"),
}
CASES: list[AclCase] = [
    *each("StreamsGroupHeartbeat v0", _join, _JOINS),
    *each("StreamsGroupHeartbeat v0 of a member that may create topics", _join_and_wait, _CREATORS),
    *each(
        "StreamsGroupDescribe v0",
        _describe,
        {
            "no ACL": (),
            "DESCRIBE": _DESCRIBE,
            "DESCRIBE, and DESCRIBE of the source topic": _DESCRIBE + on_topic("orders", "DESCRIBE"),
            "DESCRIBE, and DESCRIBE of the topics": _DESCRIBE + _TOPICS,
            "ALL for all groups and topics": on_group("*", "ALL") + on_topic("*", "ALL"),
        },
    ),
]
