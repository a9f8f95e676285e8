"""CreateTopics, CreatePartitions and DeleteTopics."""

from collections.abc import Callable

from fauxka.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from fauxka.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from fauxka.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

from ..acl_brokers import ADMIN, PERMISSIVE
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_topic
from .judging import METADATA, operations_of
from .reading import acls_with, of_four

TIMEOUT_MS = 10_000


def _create(version: int, *, validate_only: bool = False) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.topic("present")
        creatable = [
            CreatableTopic(name=scene.name(name), num_partitions=1, replication_factor=1)
            for name in ("topic", "other", "present")
        ]
        scene.send(version, CreateTopicsRequest(topics=creatable, timeout_ms=TIMEOUT_MS, validate_only=validate_only))

    return steps


def _create_twice(scene: Scene) -> None:
    creatable = CreatableTopic(name=scene.name("topic"), num_partitions=1, replication_factor=1)
    scene.send(7, CreateTopicsRequest(topics=[creatable, creatable], timeout_ms=TIMEOUT_MS))


def _create_internal(scene: Scene) -> None:
    creatable = CreatableTopic(name="__cluster_metadata", num_partitions=1, replication_factor=1)
    scene.send(7, CreateTopicsRequest(topics=[creatable], timeout_ms=TIMEOUT_MS))


def _delete_by_name(version: int) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        present = [scene.topic("topic"), scene.topic("other")]
        names = [topic.name for topic in present] + [scene.name("missing"), scene.name("other-missing")]
        states = [DeleteTopicState(name=name) for name in names]
        scene.send(version, DeleteTopicsRequest(topics=states, topic_names=names, timeout_ms=TIMEOUT_MS))
        scene.admin.settle()
        scene.send(METADATA, operations_of(*present), ADMIN)

    return steps


def _delete_by_id(scene: Scene) -> None:
    topics = [scene.topic("topic"), scene.topic("other"), scene.missing_topic("missing")]
    states = [DeleteTopicState(topic_id=topic.topic_id) for topic in topics]
    scene.send(6, DeleteTopicsRequest(topics=states, timeout_ms=TIMEOUT_MS))


def _delete_by_name_and_id(scene: Scene) -> None:
    topic = scene.topic("topic")
    states = [DeleteTopicState(name=topic.name), DeleteTopicState(topic_id=topic.topic_id)]
    scene.send(6, DeleteTopicsRequest(topics=states, timeout_ms=TIMEOUT_MS))


def _add_partitions(name: str) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=name, count=2, assignments=None)], timeout_ms=TIMEOUT_MS
    )


_DELETIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_topic("topic", "DESCRIBE"),
    "ALTER": on_topic("topic", "ALTER"),
    "DELETE": on_topic("topic", "DELETE"),
    "DELETE of one that exists and one that does not": on_topic("topic", "DELETE") + on_topic("missing", "DELETE"),
    "DELETE of all": on_topic("*", "DELETE"),
    "DELETE, deny DESCRIBE": on_topic("topic", "DELETE") + on_topic("topic", "DESCRIBE", permission="DENY"),
    "DELETE of the cluster": on_cluster("DELETE"),
    "DELETE of the cluster, deny DELETE": on_cluster("DELETE") + on_topic("topic", "DELETE", permission="DENY"),
    "ALTER of the cluster": on_cluster("ALTER"),
}
_CREATIONS: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_topic("*", "DESCRIBE"),
    "CREATE of one": on_topic("topic", "CREATE"),
    "CREATE and DESCRIBE_CONFIGS of one": on_topic("topic", "CREATE", "DESCRIBE_CONFIGS"),
    "CREATE of a prefix": on_topic("to", "CREATE", pattern="PREFIXED"),
    "CREATE of all": on_topic("*", "CREATE"),
    "CREATE of the cluster": on_cluster("CREATE"),
    "CREATE of the cluster, deny CREATE": on_cluster("CREATE") + on_topic("topic", "CREATE", permission="DENY"),
    "CREATE, deny CREATE of the cluster": on_topic("topic", "CREATE") + on_cluster("CREATE", permission="DENY"),
    "CREATE and DESCRIBE_CONFIGS of the cluster": on_cluster("CREATE", "DESCRIBE_CONFIGS"),
    "ALTER of the cluster": on_cluster("ALTER"),
}

CASES: list[AclCase] = [
    *each("CreateTopics v7", _create(7), _CREATIONS),
    *each(
        "CreateTopics v7 with allow.everyone.if.no.acl.found",
        _create(7),
        {
            "CREATE of the cluster to bob": on_cluster("CREATE", principal="User:bob"),
            "CREATE of the cluster and a topic to bob": on_cluster("CREATE", principal="User:bob")
            + on_topic("topic", "CREATE", principal="User:bob"),
        },
        PERMISSIVE,
    ),
    *each("CreateTopics v4", _create(4), {"no ACL": (), "CREATE of one": on_topic("topic", "CREATE")}),
    *each(
        "CreateTopics v7, only validated",
        _create(7, validate_only=True),
        {"no ACL": (), "CREATE": on_cluster("CREATE")},
    ),
    *each("CreateTopics v7 twice the same", _create_twice, {"no ACL": (), "CREATE": on_topic("topic", "CREATE")}),
    *each(
        "CreateTopics v7 of __cluster_metadata",
        _create_internal,
        {"CREATE of the cluster": on_cluster("CREATE"), "CREATE": on_topic("*", "CREATE")},
    ),
    *each(
        "CreatePartitions v3",
        of_four(3, "topics", lambda topic: _add_partitions(topic.name)),
        acls_with("ALTER", "DESCRIBE", "CREATE") | {"ALTER of the cluster": on_cluster("ALTER", "CREATE")},
    ),
    *each("DeleteTopics v6 by name", _delete_by_name(6), _DELETIONS),
    *each("DeleteTopics v5", _delete_by_name(5), {"no ACL": (), "DELETE of all": on_topic("*", "DELETE")}),
    *each("DeleteTopics v6 by id", _delete_by_id, _DELETIONS),
    *each("DeleteTopics v6 by name and id", _delete_by_name_and_id, {"no ACL": (), "DELETE": on_topic("*", "DELETE")}),
]
