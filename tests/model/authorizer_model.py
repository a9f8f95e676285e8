"""What the authorizer should say, by looking at every ACL for every question."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fauxka.broker.security.acl.acls import AclBinding
from fauxka.protocol.acl_types import AclOperation, AclPermission, PatternType, ResourceType

# What allows an operation besides the operation itself and ALL.
IMPLIED = {
    AclOperation.DESCRIBE: {AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER},
    AclOperation.DESCRIBE_CONFIGS: {AclOperation.ALTER_CONFIGS},
}

Question = tuple[str, str, AclOperation, ResourceType, str]


def covers(acl: AclBinding, resource_type: ResourceType, name: str) -> bool:
    """Whether the ACL is about the resource."""
    if acl.resource_type is not resource_type:
        return False
    return name.startswith(acl.name) if acl.pattern_type is PatternType.PREFIXED else acl.name in ("*", name)


def is_allowed(
    acls: Iterable[AclBinding], question: Question, *, without_acl: bool, super_users: Collection[str] = ()
) -> bool:
    """Answer a question of principal, host, operation, resource type and name."""
    principal, host, operation, resource_type, name = question
    if principal in super_users:
        return True
    about = [acl for acl in acls if covers(acl, resource_type, name)]
    if not about:
        return without_acl
    of_client = [acl for acl in about if acl.principal in (principal, "User:*") and acl.host in (host, "*")]
    direct = [acl for acl in of_client if acl.operation in (operation, AclOperation.ALL)]
    if any(acl.permission is AclPermission.DENY for acl in direct):
        return False
    implied = [acl for acl in of_client if acl.operation in IMPLIED.get(operation, ())]
    return any(acl.permission is AclPermission.ALLOW for acl in direct + implied)


def is_allowed_somewhere(acls: Iterable[AclBinding], question: Question) -> bool:
    """Answer a question about some resource of the type, one that there is or might be; its name does not count.

    An ACL that allows counts if no denied pattern covers all that it covers.
    Source: Authorizer.authorizeByResourceType, Kafka 4.3.0.
    """
    principal, host, operation, resource_type, _ = question
    acls = list(acls)
    if is_allowed(acls, (principal, host, operation, resource_type, "hardcode"), without_acl=False):
        return True
    direct = [
        acl
        for acl in acls
        if acl.resource_type is resource_type
        and acl.principal in (principal, "User:*")
        and acl.host in (host, "*")
        and acl.operation in (operation, AclOperation.ALL)
    ]
    allowed = [acl for acl in direct if acl.permission is AclPermission.ALLOW]
    denied = [acl for acl in direct if acl.permission is AclPermission.DENY]

    def is_every(acl: AclBinding) -> bool:
        return acl.pattern_type is PatternType.LITERAL and acl.name == "*"

    def is_within(inner: AclBinding, outer: AclBinding) -> bool:
        if outer.pattern_type is PatternType.PREFIXED:
            return inner.name.startswith(outer.name)
        return inner.pattern_type is PatternType.LITERAL and inner.name == outer.name

    if any(map(is_every, denied)):
        return False
    return any(is_every(acl) or not any(is_within(acl, each) for each in denied) for acl in allowed)
