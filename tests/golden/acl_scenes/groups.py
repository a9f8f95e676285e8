"""Groups of the classic and of the consumer protocol: their coordinators, members, listings and deletion."""

import re
from collections.abc import Callable

from ...messages import replaced
from ..acl_recorder import AclCase, each
from ..acl_scene import CONSUMER_MEMBER, SHARE_PARTITION, Scene
from ..acls import Acls, on_cluster, on_group, on_topic, on_transactional_id
from ..failover.coordinator_requests import (
    GROUP_KEY,
    SHARE_KEY,
    TRANSACTION_KEY,
    beating,
    consuming,
    deleting_groups,
    describing_consumers,
    describing_groups,
    finding,
    joining,
    leaving,
    listing_groups,
    syncing,
)
from .several import joined

# Of the group after a member with a pattern has joined.
JOINED_EPOCH = 1
_READ = on_group("group", "READ")
_GROUP_ACLS: dict[str, Acls] = {"no ACL": (), "DESCRIBE": on_group("group", "DESCRIBE"), "READ": _READ}


def _find(version: int, name: str, key_type: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(version, finding(scene.name(name), key_type))

    return steps


def _find_share_coordinator(scene: Scene) -> None:
    scene.send(6, finding(SHARE_PARTITION, SHARE_KEY))


def _find_two(scene: Scene) -> None:
    requests = (finding(scene.name(name), GROUP_KEY) for name in ("group", "other"))
    scene.send(4, joined("coordinator_keys", *requests))


def _join(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(version, joining(scene.name("group")))

    return steps


def _heartbeat(scene: Scene) -> None:
    member, generation = scene.classic_member("group")
    scene.send(4, beating(scene.name("group"), member, generation))


def _sync(scene: Scene) -> None:
    member, generation = scene.classic_member("group")
    scene.send(5, syncing(scene.name("group"), member, generation))


def _leave(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        member, _ = scene.classic_member("group")
        scene.send(version, replaced(leaving(scene.name("group"), member), member_id=member))

    return steps


def _describe(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        topic = scene.topic("topic")
        groups = (scene.group("group", topic), scene.group("other", topic), scene.name("missing"))
        request = joined("groups", *(describing_groups(group) for group in groups))
        scene.send(version, replaced(request, include_authorized_operations=True))

    return steps


def _list(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.group("group", topic)
    scene.group("other", topic)
    scene.send(5, listing_groups())


def _delete(scene: Scene) -> None:
    topic = scene.topic("topic")
    groups = (scene.group("group", topic), scene.group("other", topic), scene.name("missing"))
    scene.send(2, joined("groups_names", *(deleting_groups(group) for group in groups)))


def _consume(scene: Scene) -> None:
    scene.send(1, consuming(scene.name("group"), "member", 0, scene.topic("topic")))


def _consume_two_topics(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.missing_topic("missing")]
    request = consuming(scene.name("group"), "member", 0, topics[0])
    scene.send(1, replaced(request, subscribed_topic_names=[topic.name for topic in topics]))


def _consume_by_pattern(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.topic("other")
    request = consuming(scene.name("group"), "member", 0, topic)
    pattern = re.escape(scene.name("")) + ".*"
    scene.send(1, replaced(request, subscribed_topic_names=None, subscribed_topic_regex=pattern))
    # The broker resolves a pattern in the background, and has then a new epoch.
    scene.admin.expect_epoch(scene.name("group"), JOINED_EPOCH + 1)
    scene.send(1, consuming(scene.name("group"), "member", JOINED_EPOCH, topic))


def _beat_as_member(scene: Scene) -> None:
    topic = scene.topic("topic")
    epoch = scene.consumer_member("group", topic)
    for next_epoch in (epoch, -1):
        scene.send(1, consuming(scene.name("group"), CONSUMER_MEMBER, next_epoch, topic))


def _describe_consumers(scene: Scene) -> None:
    topic = scene.topic("topic")
    scene.consumer_member("group", topic)
    scene.consumer_member("other", topic)
    groups = (scene.name("group"), scene.name("other"), scene.name("missing"))
    request = joined("group_ids", *(describing_consumers(group) for group in groups))
    scene.send(1, replaced(request, include_authorized_operations=True))


_DESCRIBE_TRANSACTION = on_transactional_id("transaction", "DESCRIBE")
_DESCRIPTIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_group("group", "DESCRIBE"),
    "READ": _READ,
    "DELETE": on_group("group", "DELETE"),
    "DESCRIBE_CONFIGS": on_group("group", "DESCRIBE_CONFIGS"),
    "ALL for all": on_group("*", "ALL"),
    "DESCRIBE of the cluster": on_cluster("DESCRIBE"),
}
# What each API is about has no group of an earlier case.
LISTED: list[AclCase] = each(
    "ListGroups v5",
    _list,
    {
        "DESCRIBE of the cluster": on_cluster("DESCRIBE"),
        "no ACL": (),
        "DESCRIBE": on_group("group", "DESCRIBE"),
        "READ": _READ,
        "DESCRIBE_CONFIGS": on_group("group", "DESCRIBE_CONFIGS"),
        "DESCRIBE of a prefix": on_group("o", "DESCRIBE", pattern="PREFIXED"),
    },
)
CASES: list[AclCase] = [
    *each(
        "FindCoordinator v3 of a group",
        _find(3, "group", GROUP_KEY),
        _GROUP_ACLS | {"DESCRIBE of the cluster": on_cluster("DESCRIBE")},
    ),
    *each("FindCoordinator v0 of a group", _find(0, "group", GROUP_KEY), {"no ACL": ()}),
    *each("FindCoordinator v4 of two groups", _find_two, _GROUP_ACLS),
    *each(
        "FindCoordinator v3 of a transactional id",
        _find(3, "transaction", TRANSACTION_KEY),
        {"no ACL": (), "DESCRIBE": _DESCRIBE_TRANSACTION, "a group's ACL": on_group("transaction", "ALL")},
    ),
    *each(
        "FindCoordinator v6 of a transactional id",
        _find(6, "transaction", TRANSACTION_KEY),
        {"no ACL": (), "DESCRIBE": _DESCRIBE_TRANSACTION},
    ),
    *each(
        "FindCoordinator v6 of a share partition",
        _find_share_coordinator,
        {"no ACL": (), "ALL of the group": on_group("*", "ALL"), "CLUSTER_ACTION": on_cluster("CLUSTER_ACTION")},
    ),
    *each("JoinGroup v9", _join(9), _GROUP_ACLS),
    *each("JoinGroup v0", _join(0), {"no ACL": ()}),
    *each("Heartbeat v4", _heartbeat, _GROUP_ACLS),
    *each("SyncGroup v5", _sync, _GROUP_ACLS),
    *each("LeaveGroup v5", _leave(5), _GROUP_ACLS),
    *each("LeaveGroup v2", _leave(2), _GROUP_ACLS),
    *each("DescribeGroups v5", _describe(5), _DESCRIPTIONS),
    *each("DescribeGroups v6", _describe(6), {"no ACL": (), "ALL for all": on_group("*", "ALL")}),
    *each(
        "DeleteGroups v2",
        _delete,
        _GROUP_ACLS | {"DELETE": on_group("group", "DELETE"), "DELETE for all": on_group("*", "DELETE")},
    ),
    *each(
        "ConsumerGroupHeartbeat v1",
        _consume,
        _GROUP_ACLS
        | {
            "DESCRIBE of the topic": on_topic("topic", "DESCRIBE"),
            "READ and DESCRIBE of the topic": _READ + on_topic("topic", "DESCRIBE"),
            "READ and CREATE of the topic": _READ + on_topic("topic", "CREATE"),
        },
    ),
    *each(
        "ConsumerGroupHeartbeat v1 with a topic that does not exist",
        _consume_two_topics,
        {
            "READ and DESCRIBE of one topic": _READ + on_topic("topic", "DESCRIBE"),
            "READ and DESCRIBE of both topics": _READ + on_topic("*", "DESCRIBE"),
        },
    ),
    *each(
        "ConsumerGroupHeartbeat v1 with a pattern",
        _consume_by_pattern,
        {
            "READ and DESCRIBE of one topic": _READ + on_topic("topic", "DESCRIBE"),
            "READ and DESCRIBE of all topics": _READ + on_topic("*", "DESCRIBE"),
        },
    ),
    *each("ConsumerGroupHeartbeat v1 of a member", _beat_as_member, _GROUP_ACLS),
    *each(
        "ConsumerGroupDescribe v1",
        _describe_consumers,
        {
            **_DESCRIPTIONS,
            "DESCRIBE and DESCRIBE of the topic": on_group("group", "DESCRIBE") + on_topic("topic", "DESCRIBE"),
            "DESCRIBE and READ of the topic": on_group("group", "DESCRIBE") + on_topic("topic", "READ"),
            "ALL for all groups and topics": on_group("*", "ALL") + on_topic("*", "ALL"),
        },
    ),
]
