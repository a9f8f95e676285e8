"""CreateAcls, DescribeAcls and DeleteAcls, right and wrong."""

from collections.abc import Callable

from fauxka.protocol.messages.create_acls import CreateAclsRequest

from ...messages import replaced
from ..acl_brokers import ADMIN, BOB
from ..acl_recorder import AclCase, each
from ..acl_scene import Scene
from ..acls import (
    CLUSTER_NAME,
    EVERY_ACL,
    WILDCARD,
    Acl,
    AclFilter,
    Acls,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    creating_acls,
    deleting_acls,
    on,
    on_cluster,
    on_group,
    on_topic,
    on_transactional_id,
)
from .judging import METADATA, operations_of

LATEST = 3
UNUSED_CODE = 99

_VALID: Acls = (
    *on_topic("topic", "READ", "WRITE"),
    *on_topic("topic", "READ", pattern="PREFIXED", principal="User:bob", host="127.0.0.1"),
    *on_topic("*", "ALL", permission="DENY", principal="User:*"),
    *on_group("group", "DELETE"),
    *on_transactional_id("transaction", "TWO_PHASE_COMMIT"),
    *on("DELEGATION_TOKEN", "token", "DESCRIBE"),
    *on("USER", "User:bob", "CREATE_TOKENS", "DESCRIBE_TOKENS"),
    *on_cluster("IDEMPOTENT_WRITE"),
)
# Kafka has a rule for some of them, and none for the others.
_STRANGE: dict[str, Acl] = {
    "an operation of the cluster on a topic": Acl("TOPIC", "topic", "CLUSTER_ACTION"),
    "an operation of users on a group": Acl("GROUP", "group", "CREATE_TOKENS"),
    "a name that no topic can have": Acl("TOPIC", "a/b c", "READ"),
    "a principal of another type": Acl("TOPIC", "topic", "READ", principal="Group:alice"),
    "a principal without a name": Acl("TOPIC", "topic", "READ", principal="User:"),
    "a principal without a type": Acl("TOPIC", "topic", "READ", principal="alice"),
    "a principal with a type only": Acl("TOPIC", "topic", "READ", principal=":alice"),
    "a principal with two colons": Acl("TOPIC", "topic", "READ", principal="User:a:b"),
    "an empty principal": Acl("TOPIC", "topic", "READ", principal=""),
    "a principal in lower case": Acl("TOPIC", "topic", "READ", principal="user:alice"),
    "an empty host": Acl("TOPIC", "topic", "READ", host=""),
    "a host name": Acl("TOPIC", "topic", "READ", host="localhost"),
    "a host that is none": Acl("TOPIC", "topic", "READ", host="not a host"),
    "a prefix of the cluster": Acl("CLUSTER", "kafka-cluster", "ALTER", pattern="PREFIXED"),
    "another cluster": Acl("CLUSTER", "other-cluster", "ALTER"),
    "every cluster": Acl("CLUSTER", "*", "DESCRIBE"),
    "operation ANY": Acl("TOPIC", "topic", "ANY"),
    "operation UNKNOWN": Acl("TOPIC", "topic", "UNKNOWN"),
    "permission ANY": Acl("TOPIC", "topic", "READ", "ANY"),
    "permission UNKNOWN": Acl("TOPIC", "topic", "READ", "UNKNOWN"),
    "resource type ANY": Acl("ANY", "topic", "READ"),
    "resource type UNKNOWN": Acl("UNKNOWN", "topic", "READ"),
    "pattern type ANY": Acl("TOPIC", "topic", "READ", pattern="ANY"),
    "pattern type MATCH": Acl("TOPIC", "topic", "READ", pattern="MATCH"),
    "pattern type UNKNOWN": Acl("TOPIC", "topic", "READ", pattern="UNKNOWN"),
}


def _create(scene: Scene) -> None:
    acls = [acl.in_names_of(scene.name("")) for acl in _VALID]
    scene.send(LATEST, creating_acls(*acls))
    scene.admin.settle()
    scene.send(LATEST, EVERY_ACL.describing(), ADMIN)


def _create_strange(acl: Acl) -> Callable[[Scene], None]:
    """Return steps that send it alone, behind a valid one, and in version 1."""

    def steps(scene: Scene) -> None:
        strange = acl.in_names_of(scene.name(""))
        valid = on_group(scene.name("valid"), "READ")
        scene.send(LATEST, creating_acls(strange))
        scene.send(LATEST, creating_acls(*valid, strange))
        scene.send(1, creating_acls(strange))
        scene.admin.settle()
        scene.send(LATEST, EVERY_ACL.describing(), ADMIN)

    return steps


def _create_codes(scene: Scene) -> None:
    (valid,) = creating_acls(*on_topic(scene.name("topic"), "READ")).creations
    changes: list[dict[str, object]] = [
        {"resource_name": ""},
        {"resource_type": UNUSED_CODE},
        {"resource_pattern_type": UNUSED_CODE},
        {"operation": UNUSED_CODE},
        {"permission_type": UNUSED_CODE},
    ]
    for change in changes:
        scene.send(LATEST, CreateAclsRequest(creations=[replaced(valid, **change)]))
    scene.send(LATEST, CreateAclsRequest(creations=[]))


def _create_twice(scene: Scene) -> None:
    acls = on_topic(scene.name("topic"), "READ")
    scene.send(LATEST, creating_acls(*acls, *acls))
    scene.send(LATEST, creating_acls(*acls))
    scene.admin.settle()
    scene.send(LATEST, EVERY_ACL.describing(), ADMIN)


def _grant_itself(scene: Scene) -> None:
    """Have alice create an ACL, and use it at once."""
    topic = scene.topic("topic")
    scene.send(LATEST, creating_acls(*on_topic(topic.name, "READ")))
    scene.admin.settle()
    scene.send(METADATA, operations_of(topic))


_TOPIC, _LITERAL, _PREFIXED, _MATCH = (
    ResourceType.TOPIC,
    PatternType.LITERAL,
    PatternType.PREFIXED,
    PatternType.MATCH,
)
# What the filters choose from; the ACL of alice for the request itself comes to it.
_STORED: Acls = (
    *on_topic("topic", "READ", "WRITE"),
    *on_topic("topic", "READ", principal="User:bob", host="127.0.0.1"),
    *on_topic("topic", "READ", pattern="PREFIXED", principal="User:bob"),
    *on_topic("to", "WRITE", pattern="PREFIXED", permission="DENY"),
    *on_topic("tu", "WRITE", pattern="PREFIXED"),
    *on_topic("topic2", "DESCRIBE"),
    *on_topic("*", "DESCRIBE", principal="User:*"),
    *on_group("topic", "READ"),
    *on_transactional_id("transaction", "ALL"),
)
_FILTERS: dict[str, AclFilter] = {
    "everything": EVERY_ACL,
    "topics": AclFilter(resource_type=_TOPIC),
    "groups": AclFilter(resource_type=ResourceType.GROUP),
    "the cluster": AclFilter(resource_type=ResourceType.CLUSTER, name=CLUSTER_NAME),
    "a user": AclFilter(resource_type=ResourceType.USER, name=CLUSTER_NAME),
    "a name": AclFilter(name="topic"),
    "a name of a topic": AclFilter(resource_type=_TOPIC, name="topic"),
    "a literal name": AclFilter(resource_type=_TOPIC, name="topic", pattern=_LITERAL),
    "a prefix": AclFilter(resource_type=_TOPIC, name="topic", pattern=_PREFIXED),
    "a shorter prefix": AclFilter(resource_type=_TOPIC, name="to", pattern=_PREFIXED),
    "what matches a name": AclFilter(resource_type=_TOPIC, name="topic", pattern=_MATCH),
    "what matches a longer name": AclFilter(resource_type=_TOPIC, name="topic-3", pattern=_MATCH),
    "what matches a shorter name": AclFilter(resource_type=_TOPIC, name="t", pattern=_MATCH),
    "what matches the wildcard": AclFilter(resource_type=_TOPIC, name=WILDCARD, pattern=_MATCH),
    "the wildcard": AclFilter(resource_type=_TOPIC, name=WILDCARD, pattern=_LITERAL),
    "the wildcard as a prefix": AclFilter(resource_type=_TOPIC, name=WILDCARD, pattern=_PREFIXED),
    "an empty name": AclFilter(resource_type=_TOPIC, name="", pattern=_LITERAL),
    "no name, literal": AclFilter(pattern=_LITERAL),
    "no name, prefixed": AclFilter(pattern=_PREFIXED),
    "no name, what matches": AclFilter(pattern=_MATCH),
    "a principal": AclFilter(principal="User:bob"),
    "every principal": AclFilter(principal="User:*"),
    "a principal without a type": AclFilter(principal="bob"),
    "an empty principal": AclFilter(principal=""),
    "a host": AclFilter(host="127.0.0.1"),
    "every host": AclFilter(host="*"),
    "an empty host": AclFilter(host=""),
    "an operation": AclFilter(operation=Operation.READ),
    "operation ALL": AclFilter(operation=Operation.ALL),
    "permission DENY": AclFilter(permission=Permission.DENY),
    "permission ALLOW": AclFilter(permission=Permission.ALLOW),
    "nothing that exists": AclFilter(resource_type=_TOPIC, name="missing"),
}
_WRONG_FILTERS: dict[str, AclFilter] = {
    "resource type UNKNOWN": AclFilter(resource_type=ResourceType.UNKNOWN),
    "pattern type UNKNOWN": AclFilter(pattern=PatternType.UNKNOWN),
    "operation UNKNOWN": AclFilter(operation=Operation.UNKNOWN),
    "permission UNKNOWN": AclFilter(permission=Permission.UNKNOWN),
    "an unused resource type": AclFilter(resource_type=UNUSED_CODE),
}


def _describe(scene: Scene) -> None:
    for entry in _FILTERS.values():
        scene.send(LATEST, entry.in_names_of(scene.name("")).describing())
    scene.send(1, _FILTERS["what matches a name"].in_names_of(scene.name("")).describing())


def _describe_with(wrong: AclFilter) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(LATEST, wrong.describing())
        scene.send(1, wrong.describing())

    return steps


def _delete_with(*filters: AclFilter) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(LATEST, deleting_acls(*(entry.in_names_of(scene.name("")) for entry in filters)))
        scene.admin.settle()
        scene.send(LATEST, EVERY_ACL.describing(), ADMIN)

    return steps


def _delete_own(scene: Scene) -> None:
    """Have alice delete the ACL that allows her to."""
    scene.send(LATEST, deleting_acls(AclFilter(ResourceType.CLUSTER)))
    scene.admin.settle()
    scene.send(LATEST, deleting_acls(EVERY_ACL))


def _as_bob(scene: Scene) -> None:
    scene.send(LATEST, EVERY_ACL.describing(), BOB)
    scene.send(LATEST, creating_acls(*on_topic(scene.name("topic"), "READ")), BOB)
    scene.send(LATEST, deleting_acls(EVERY_ACL), BOB)


_ALTER = on_cluster("ALTER")
_DENIED: dict[str, Acls] = {
    "no ACL": (),
    "DESCRIBE": on_cluster("DESCRIBE"),
    "ALL of a topic": on_topic("topic", "ALL"),
    "ALTER": _ALTER,
}

CASES: list[AclCase] = [
    *each("CreateAcls v3", _create, {**_DENIED, "ALL": on_cluster("ALL"), "CREATE": on_cluster("CREATE")}),
    *each("CreateAcls v3 twice the same", _create_twice, {"ALTER": _ALTER}),
    *each("CreateAcls v3 for the user itself", _grant_itself, {"ALTER": _ALTER}),
    *each("CreateAcls v3 with other codes", _create_codes, {"ALTER": _ALTER}),
    *(AclCase(f"CreateAcls: {name}", _ALTER, _create_strange(acl)) for name, acl in _STRANGE.items()),
    *each(
        "DescribeAcls v3",
        _describe,
        {"ALTER": _STORED + _ALTER, "DESCRIBE": _STORED + on_cluster("DESCRIBE"), "no ACL": _STORED},
    ),
    *(
        AclCase(f"DescribeAcls: {name}", _STORED + _ALTER, _describe_with(entry))
        for name, entry in _WRONG_FILTERS.items()
    ),
    *(
        AclCase(f"DeleteAcls: {name}", _STORED + _ALTER, _delete_with(entry))
        for name, entry in (_FILTERS | _WRONG_FILTERS).items()
    ),
    *each(
        "DeleteAcls v3 with several filters",
        _delete_with(
            AclFilter(name="topic", pattern=_LITERAL),
            AclFilter(name="topic", pattern=_MATCH),
            AclFilter(principal="User:bob"),
        ),
        {"ALTER": _STORED + _ALTER, "DESCRIBE": _STORED + on_cluster("DESCRIBE"), "no ACL": _STORED},
    ),
    *each(
        "DeleteAcls v3 twice the same filter",
        _delete_with(AclFilter(name="topic"), AclFilter(name="topic")),
        {"ALTER": _STORED + _ALTER},
    ),
    *each(
        "DeleteAcls v3 with a right and a wrong filter",
        _delete_with(EVERY_ACL, AclFilter(pattern=PatternType.UNKNOWN)),
        {"ALTER": _STORED + _ALTER},
    ),
    *each("DeleteAcls v3 without filters", _delete_with(), {"ALTER": _STORED + _ALTER}),
    *each("DeleteAcls v3 of the user's own ACL", _delete_own, {"ALTER": _STORED + _ALTER}),
    *each("ACL requests of another user", _as_bob, {"ALTER": _STORED + _ALTER}),
]
