"""CreateAcls, DescribeAcls and DeleteAcls, right and wrong."""

from collections.abc import Callable
from typing import TypedDict

from fauxka.protocol.messages.create_acls import CreateAclsRequest
from fauxka.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fauxka.protocol.messages.describe_acls import DescribeAclsRequest

from ...messages import replaced
from ..acl_brokers import ADMIN, BOB
from ..acl_recorder import AclCase, Scene, each
from ..acls import (
    ANY,
    CLUSTER_NAME,
    WILDCARD,
    Acl,
    Acls,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    creating_acls,
    deleting_all_acls,
    describing_all_acls,
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
    scene.send(LATEST, describing_all_acls(), ADMIN)


def _create_strange(acl: Acl) -> Callable[[Scene], None]:
    """Return steps that send it alone, behind a valid one, and in version 1."""

    def steps(scene: Scene) -> None:
        strange = acl.in_names_of(scene.name(""))
        valid = on_group(scene.name("valid"), "READ")
        scene.send(LATEST, creating_acls(strange))
        scene.send(LATEST, creating_acls(*valid, strange))
        scene.send(1, creating_acls(strange))
        scene.admin.settle()
        scene.send(LATEST, describing_all_acls(), ADMIN)

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
    scene.send(LATEST, describing_all_acls(), ADMIN)


def _grant_itself(scene: Scene) -> None:
    """Have alice create an ACL, and use it at once."""
    topic = scene.topic("topic")
    scene.send(LATEST, creating_acls(*on_topic(topic.name, "READ")))
    scene.admin.settle()
    scene.send(METADATA, operations_of(topic))


class _FilterFields(TypedDict, total=False):
    """Fields of a filter that do not match everything."""

    resource_type: int
    name: str | None
    pattern: int
    principal: str | None
    host: str | None
    operation: int
    permission: int


_EVERYTHING = _FilterFields(
    resource_type=ANY, name=None, pattern=ANY, principal=None, host=None, operation=ANY, permission=ANY
)


def _deleting(scene: Scene, *filters: _FilterFields) -> DeleteAclsRequest:
    """Return a request with these filters; their names are those of the case."""
    return DeleteAclsRequest(filters=[_filter(scene, fields) for fields in filters])


def _describing(scene: Scene, fields: _FilterFields) -> DescribeAclsRequest:
    entry = _filter(scene, fields)
    return DescribeAclsRequest(**{name: getattr(entry, name) for name in entry.__slots__})


def _filter(scene: Scene, fields: _FilterFields) -> DeleteAclsFilter:
    whole = {**_EVERYTHING, **fields}
    name = whole["name"]
    is_shared = name in (None, "", WILDCARD, CLUSTER_NAME)
    return DeleteAclsFilter(
        resource_type_filter=whole["resource_type"],
        resource_name_filter=name if is_shared else scene.name(str(name)),
        pattern_type_filter=whole["pattern"],
        principal_filter=whole["principal"],
        host_filter=whole["host"],
        operation=whole["operation"],
        permission_type=whole["permission"],
    )


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
_FILTERS: dict[str, _FilterFields] = {
    "everything": {},
    "topics": {"resource_type": _TOPIC},
    "groups": {"resource_type": ResourceType.GROUP},
    "the cluster": {"resource_type": ResourceType.CLUSTER, "name": CLUSTER_NAME},
    "a user": {"resource_type": ResourceType.USER, "name": CLUSTER_NAME},
    "a name": {"name": "topic"},
    "a name of a topic": {"resource_type": _TOPIC, "name": "topic"},
    "a literal name": {"resource_type": _TOPIC, "name": "topic", "pattern": _LITERAL},
    "a prefix": {"resource_type": _TOPIC, "name": "topic", "pattern": _PREFIXED},
    "a shorter prefix": {"resource_type": _TOPIC, "name": "to", "pattern": _PREFIXED},
    "what matches a name": {"resource_type": _TOPIC, "name": "topic", "pattern": _MATCH},
    "what matches a longer name": {"resource_type": _TOPIC, "name": "topic-3", "pattern": _MATCH},
    "what matches a shorter name": {"resource_type": _TOPIC, "name": "t", "pattern": _MATCH},
    "what matches the wildcard": {"resource_type": _TOPIC, "name": WILDCARD, "pattern": _MATCH},
    "the wildcard": {"resource_type": _TOPIC, "name": WILDCARD, "pattern": _LITERAL},
    "the wildcard as a prefix": {"resource_type": _TOPIC, "name": WILDCARD, "pattern": _PREFIXED},
    "an empty name": {"resource_type": _TOPIC, "name": "", "pattern": _LITERAL},
    "no name, literal": {"pattern": _LITERAL},
    "no name, prefixed": {"pattern": _PREFIXED},
    "no name, what matches": {"pattern": _MATCH},
    "a principal": {"principal": "User:bob"},
    "every principal": {"principal": "User:*"},
    "a principal without a type": {"principal": "bob"},
    "an empty principal": {"principal": ""},
    "a host": {"host": "127.0.0.1"},
    "every host": {"host": "*"},
    "an empty host": {"host": ""},
    "an operation": {"operation": Operation.READ},
    "operation ALL": {"operation": Operation.ALL},
    "permission DENY": {"permission": Permission.DENY},
    "permission ALLOW": {"permission": Permission.ALLOW},
    "nothing that exists": {"resource_type": _TOPIC, "name": "missing"},
}
_WRONG_FILTERS: dict[str, _FilterFields] = {
    "resource type UNKNOWN": {"resource_type": ResourceType.UNKNOWN},
    "pattern type UNKNOWN": {"pattern": PatternType.UNKNOWN},
    "operation UNKNOWN": {"operation": Operation.UNKNOWN},
    "permission UNKNOWN": {"permission": Permission.UNKNOWN},
    "an unused resource type": {"resource_type": UNUSED_CODE},
}


def _describe(scene: Scene) -> None:
    for fields in _FILTERS.values():
        scene.send(LATEST, _describing(scene, fields))
    scene.send(1, _describing(scene, _FILTERS["what matches a name"]))


def _describe_with(fields: _FilterFields) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(LATEST, _describing(scene, fields))
        scene.send(1, _describing(scene, fields))

    return steps


def _delete_with(*filters: _FilterFields) -> Callable[[Scene], None]:
    def steps(scene: Scene) -> None:
        scene.send(LATEST, _deleting(scene, *filters))
        scene.admin.settle()
        scene.send(LATEST, describing_all_acls(), ADMIN)

    return steps


def _delete_own(scene: Scene) -> None:
    """Have alice delete the ACL that allows her to."""
    scene.send(LATEST, _deleting(scene, {"resource_type": ResourceType.CLUSTER}))
    scene.admin.settle()
    scene.send(LATEST, _deleting(scene, {}))


def _as_bob(scene: Scene) -> None:
    scene.send(LATEST, describing_all_acls(), BOB)
    scene.send(LATEST, creating_acls(*on_topic(scene.name("topic"), "READ")), BOB)
    scene.send(LATEST, deleting_all_acls(), BOB)


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
        AclCase(f"DescribeAcls: {name}", _STORED + _ALTER, _describe_with(fields))
        for name, fields in _WRONG_FILTERS.items()
    ),
    *(
        AclCase(f"DeleteAcls: {name}", _STORED + _ALTER, _delete_with(fields))
        for name, fields in (_FILTERS | _WRONG_FILTERS).items()
    ),
    *each(
        "DeleteAcls v3 with several filters",
        _delete_with(
            {"name": "topic", "pattern": _LITERAL}, {"name": "topic", "pattern": _MATCH}, {"principal": "User:bob"}
        ),
        {"ALTER": _STORED + _ALTER, "DESCRIBE": _STORED + on_cluster("DESCRIBE"), "no ACL": _STORED},
    ),
    *each("DeleteAcls v3 twice the same filter", _delete_with({"name": "topic"}, {"name": "topic"}), {"ALTER": _STORED + _ALTER}),
    *each("DeleteAcls v3 with a right and a wrong filter", _delete_with({}, {"pattern": PatternType.UNKNOWN}), {"ALTER": _STORED + _ALTER}),
    *each("DeleteAcls v3 without filters", _delete_with(), {"ALTER": _STORED + _ALTER}),
    *each("DeleteAcls v3 of the user's own ACL", _delete_own, {"ALTER": _STORED + _ALTER}),
    *each("ACL requests of another user", _as_bob, {"ALTER": _STORED + _ALTER}),
]
