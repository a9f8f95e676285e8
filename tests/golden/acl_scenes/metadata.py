"""Metadata, DescribeTopicPartitions, DescribeCluster and ApiVersions."""

from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.describe_cluster import DescribeClusterRequest
from fauxka.protocol.messages.describe_topic_partitions import DescribeTopicPartitionsRequest
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_topic
from ..failover.requests import Topic, partitions
from .reading import acls_with, of_four
from .several import joined

LATEST = 13
_DESCRIBE = on_topic("topic", "DESCRIBE")


def _by_id(*topics: Topic) -> MetadataRequest:
    asked = [MetadataRequestTopic(name=None, topic_id=topic.topic_id) for topic in topics]
    return MetadataRequest(topics=asked, allow_auto_topic_creation=False, include_topic_authorized_operations=True)


def _named(topic: Topic) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=topic.name)], allow_auto_topic_creation=False)


def _named_with_operations(topic: Topic) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=topic.name)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
    )


def _ids(scene: Scene) -> None:
    scene.send(LATEST, _by_id(scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")))


def _all(version: int, scene: Scene) -> None:
    scene.topic("topic")
    scene.topic("other")
    scene.send(version, MetadataRequest(topics=None if version else []))


def _all_with_operations(scene: Scene) -> None:
    scene.topic("topic")
    scene.topic("other")
    scene.send(LATEST, MetadataRequest(topics=None, include_topic_authorized_operations=True))


def _auto_create(version: int, scene: Scene) -> None:
    topics = [MetadataRequestTopic(name=scene.name(name)) for name in ("topic", "other")]
    scene.send(version, MetadataRequest(topics=topics, allow_auto_topic_creation=True))
    scene.admin.settle()
    scene.send(version, MetadataRequest(topics=topics, allow_auto_topic_creation=False), user="admin")


def _cluster_operations(scene: Scene) -> None:
    scene.send(9, MetadataRequest(topics=[], include_cluster_authorized_operations=True))


def _all_partitions(scene: Scene) -> None:
    scene.topic("topic")
    scene.topic("other", 2)
    scene.send(0, DescribeTopicPartitionsRequest(topics=[]))


def _named_partitions(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other", 2), scene.missing_topic("missing")]
    scene.send(0, joined("topics", *(partitions(topic) for topic in topics)))


def _describe_cluster(version: int, scene: Scene) -> None:
    scene.send(version, DescribeClusterRequest(include_cluster_authorized_operations=True))
    scene.send(version, DescribeClusterRequest(include_cluster_authorized_operations=False))


def _describe_fenced(scene: Scene) -> None:
    scene.send(2, DescribeClusterRequest(include_fenced_brokers=True))


def _api_versions(scene: Scene) -> None:
    scene.send(0, ApiVersionsRequest())


_CREATE_TOPIC = on_topic("topic", "CREATE")
_CREATIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": _DESCRIBE,
    "CREATE": _CREATE_TOPIC,
    "DESCRIBE and CREATE": _DESCRIBE + _CREATE_TOPIC,
    "CREATE of the cluster": on_cluster("CREATE"),
    "DESCRIBE and CREATE of the cluster": _DESCRIBE + on_cluster("CREATE"),
    "READ, deny CREATE, CREATE of the cluster": on_topic("topic", "READ")
    + on_topic("topic", "CREATE", permission="DENY")
    + on_cluster("CREATE"),
    "DESCRIBE and CREATE of a prefix": on_topic("to", "DESCRIBE", "CREATE", pattern="PREFIXED"),
}
_CLUSTER_OPERATIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_cluster("DESCRIBE"),
    "CREATE": on_cluster("CREATE"),
    "ALTER": on_cluster("ALTER"),
    "ALTER_CONFIGS": on_cluster("ALTER_CONFIGS"),
    "DESCRIBE and IDEMPOTENT_WRITE": on_cluster("DESCRIBE", "IDEMPOTENT_WRITE"),
    "ALL": on_cluster("ALL"),
    "ALL, deny DESCRIBE": on_cluster("ALL") + on_cluster("DESCRIBE", permission="DENY"),
}
_TOPICS: dict[str, Acls] = {"no ACL": (), "DESCRIBE": _DESCRIBE, "CREATE": _CREATE_TOPIC}

CASES: list[AclCase] = [
    *each("Metadata v8", of_four(8, "topics", _named), acls_with("DESCRIBE", "WRITE")),
    *each("Metadata v9 with operations", of_four(9, "topics", _named_with_operations), acls_with("DESCRIBE")),
    *each("Metadata v12", of_four(12, "topics", _named), acls_with("DESCRIBE", "CREATE")),
    *each(
        "Metadata v13 by id",
        _ids,
        {"no ACL": (), "READ": on_topic("topic", "READ"), "CREATE": _CREATE_TOPIC},
    ),
    *each("Metadata v0 of all topics", lambda scene: _all(0, scene), _TOPICS),
    *each("Metadata v12 of all topics", lambda scene: _all(12, scene), _TOPICS),
    *each("Metadata v13 of all topics, with operations", _all_with_operations, _TOPICS),
    *each("Metadata v12 that creates topics", lambda scene: _auto_create(12, scene), _CREATIONS),
    *each("Metadata v3 that creates topics", lambda scene: _auto_create(3, scene), {"DESCRIBE": _DESCRIBE}),
    *each("Metadata v9 with cluster operations", _cluster_operations, _CLUSTER_OPERATIONS),
    *each("DescribeTopicPartitions v0 of all topics", _all_partitions, _TOPICS),
    *each(
        "DescribeTopicPartitions v0",
        _named_partitions,
        _TOPICS | {"DESCRIBE for all": on_topic("*", "DESCRIBE"), "WRITE": on_topic("topic", "WRITE")},
    ),
    *each("DescribeCluster v1", lambda scene: _describe_cluster(1, scene), _CLUSTER_OPERATIONS),
    *each("DescribeCluster v2 with fenced brokers", _describe_fenced, {"no ACL": (), "ALTER": on_cluster("ALTER")}),
    *each("ApiVersions v0", _api_versions, {"no ACL": (), "deny ALL": on_cluster("ALL", permission="DENY")}),
]
