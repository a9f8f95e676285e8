"""How ACLs are judged: patterns, principals, hosts, deny before allow, implied operations, super users.

Metadata returns which operations on a topic are authorized; Produce needs one that nothing implies.
"""

from fauxka.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..acl_brokers import ADMIN, ALICE, BOB, PERMISSIVE
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import Acls, on_cluster, on_group, on_topic
from ..failover.requests import Topic, records
from ..failover.requests import producing as producing_records

METADATA, PRODUCE = 13, 9
ALL_OPERATIONS = ("READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "DESCRIBE_CONFIGS", "ALTER_CONFIGS")


def operations_of(*topics: Topic) -> MetadataRequest:
    """Return a Metadata request that asks for the authorized operations of topics."""
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=topic.name) for topic in topics],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )


def _judge(scene: Scene, user: str = ALICE) -> None:
    topic = scene.topic("topic")
    scene.send(METADATA, operations_of(topic), user)
    scene.send(PRODUCE, producing_records(topic, records()), user)


def _judge_as_bob(scene: Scene) -> None:
    _judge(scene, BOB)


def _judge_as_admin(scene: Scene) -> None:
    _judge(scene, ADMIN)


def _deny(*operations: str, name: str = "topic", pattern: str = "LITERAL") -> Acls:
    return on_topic(name, *operations, permission="DENY", pattern=pattern)


_ALLOWED = on_topic("topic", "WRITE")
_EVERY_OPERATION = on_topic("topic", "ALL")

_PATTERNS: dict[str, Acls] = {
    "no ACL": (),
    "literal": _ALLOWED,
    "literal, another topic": on_topic("topic2", "WRITE"),
    "literal, a prefix of the name": on_topic("top", "WRITE"),
    "literal, other case": on_topic("Topic", "WRITE"),
    "prefixed": on_topic("top", "WRITE", pattern="PREFIXED"),
    "prefixed, the whole name": on_topic("topic", "WRITE", pattern="PREFIXED"),
    "prefixed, longer than the name": on_topic("topic-", "WRITE", pattern="PREFIXED"),
    "prefixed, one letter": on_topic("t", "WRITE", pattern="PREFIXED"),
    "prefixed, not a prefix": on_topic("opic", "WRITE", pattern="PREFIXED"),
    "prefixed, an asterisk": on_topic("*", "WRITE", pattern="PREFIXED"),
    "wildcard": on_topic("*", "WRITE"),
    "an ACL of a group with that name": on_group("topic", "READ", "DESCRIBE"),
    "an ACL of the cluster": on_cluster("ALL"),
}
_PRINCIPALS: dict[str, Acls] = {
    "User:*": on_topic("topic", "WRITE", principal="User:*"),
    "User:bob": on_topic("topic", "WRITE", principal="User:bob"),
    "User:Alice": on_topic("topic", "WRITE", principal="User:Alice"),
    "User:ali": on_topic("topic", "WRITE", principal="User:ali"),
    "Group:alice": on_topic("topic", "WRITE", principal="Group:alice"),
    "Group:*": on_topic("topic", "WRITE", principal="Group:*"),
}
_HOSTS: dict[str, Acls] = {
    "host 127.0.0.1": on_topic("topic", "WRITE", host="127.0.0.1"),
    "host 127.0.0.2": on_topic("topic", "WRITE", host="127.0.0.2"),
    "host localhost": on_topic("topic", "WRITE", host="localhost"),
    "host 127.0.0.0/8": on_topic("topic", "WRITE", host="127.0.0.0/8"),
    "deny from 127.0.0.1": _EVERY_OPERATION + on_topic("topic", "WRITE", permission="DENY", host="127.0.0.1"),
    "deny from 127.0.0.2": _EVERY_OPERATION + on_topic("topic", "WRITE", permission="DENY", host="127.0.0.2"),
}
_DENIED: dict[str, Acls] = {
    "deny beats allow": _ALLOWED + _deny("WRITE"),
    "deny prefixed": _ALLOWED + _deny("WRITE", name="to", pattern="PREFIXED"),
    "deny prefixed, of other topics": _ALLOWED + _deny("WRITE", name="tu", pattern="PREFIXED"),
    "deny wildcard": _ALLOWED + _deny("WRITE", name="*"),
    "deny User:*": _ALLOWED + on_topic("topic", "WRITE", permission="DENY", principal="User:*"),
    "deny User:bob": _ALLOWED + on_topic("topic", "WRITE", permission="DENY", principal="User:bob"),
    "deny ALL": _EVERY_OPERATION + _deny("ALL"),
    "deny ALL, allow WRITE": _ALLOWED + _deny("ALL"),
    "deny ALL prefixed, allow literal": _ALLOWED + _deny("ALL", name="t", pattern="PREFIXED"),
    "deny only": _deny("WRITE"),
    "allow prefixed, deny literal": on_topic("t", "ALL", pattern="PREFIXED") + _deny("WRITE"),
    "allow wildcard, deny literal": on_topic("*", "ALL") + _deny("WRITE"),
    **{f"ALL but deny {operation}": _EVERY_OPERATION + _deny(operation) for operation in ALL_OPERATIONS},
    "WRITE, but deny READ": _ALLOWED + _deny("READ"),
    "ALTER_CONFIGS, but deny DESCRIBE_CONFIGS": on_topic("topic", "ALTER_CONFIGS", "DESCRIBE")
    + _deny("DESCRIBE_CONFIGS"),
}
_OPERATIONS: dict[str, Acls] = {
    **{f"allow {operation}": on_topic("topic", operation) for operation in ALL_OPERATIONS},
    "allow ALTER_CONFIGS and DESCRIBE": on_topic("topic", "ALTER_CONFIGS", "DESCRIBE"),
    "allow CLUSTER_ACTION": on_topic("topic", "CLUSTER_ACTION"),
    "allow IDEMPOTENT_WRITE": on_topic("topic", "IDEMPOTENT_WRITE"),
    "allow ALL": _EVERY_OPERATION,
    "allow ALL of every topic": on_topic("*", "ALL"),
}
_WITHOUT_ACL: dict[str, Acls] = {
    "no ACL": (),
    "an ACL for bob": on_topic("topic", "WRITE", principal="User:bob"),
    "an ACL for bob, of a prefix": on_topic("to", "WRITE", principal="User:bob", pattern="PREFIXED"),
    "an ACL for bob, of every topic": on_topic("*", "WRITE", principal="User:bob"),
    "an ACL for DESCRIBE": on_topic("topic", "DESCRIBE"),
    "an ACL of another topic": on_topic("topic2", "WRITE"),
    "an ACL of another prefix": on_topic("tu", "WRITE", pattern="PREFIXED"),
    "an ACL of a group with that name": on_group("topic", "READ"),
    "an ACL of every group": on_group("*", "READ"),
    "deny WRITE": _deny("WRITE"),
    "deny WRITE to bob": on_topic("topic", "WRITE", permission="DENY", principal="User:bob"),
    "deny WRITE from 127.0.0.2": on_topic("topic", "WRITE", permission="DENY", host="127.0.0.2"),
    "wildcard ACL": on_topic("*", "WRITE"),
}

CASES: list[AclCase] = [
    *each("pattern", _judge, _PATTERNS),
    *each("principal", _judge, _PRINCIPALS),
    *each("principal of bob", _judge_as_bob, {"User:bob": on_topic("topic", "WRITE", principal="User:bob")}),
    *each("host", _judge, _HOSTS),
    *each("deny", _judge, _DENIED),
    *each("operation", _judge, _OPERATIONS),
    *each(
        "super user",
        _judge_as_admin,
        {"no ACL": (), "deny ALL": on_topic("topic", "ALL", permission="DENY", principal="User:*")},
    ),
    *each("allow.everyone.if.no.acl.found", _judge, _WITHOUT_ACL, PERMISSIVE),
]
