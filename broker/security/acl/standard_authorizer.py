"""Judges by ACLs whether a client may do something (Kafka: StandardAuthorizer).

Rules:
- A super user may do everything.
- Of the ACLs that cover the resource, those count that are for the client's principal or for every user, for its host
  or for every host, and for the operation. One that denies takes precedence over all that allow.
- ALL covers every operation. To allow READ, WRITE, DELETE or ALTER allows DESCRIBE as well, and to allow ALTER_CONFIGS
  allows DESCRIBE_CONFIGS. To deny them denies nothing else.
- Without an ACL that counts the client is denied, unless no ACL covers the resource at all and
  allow.everyone.if.no.acl.found is set.
Source: StandardAuthorizerData.authorize and findResult, Authorizer.authorizeByResourceType, Kafka 4.3.0;
tests/golden/acls-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Collection

from ..principal import USER_TYPE, Client
from .acl_types import WILDCARD, AclOperation, AclPermission, PatternType, ResourceType
from .acls import AclBinding, Acls

EVERY_USER = f"{USER_TYPE}:*"
EVERY_HOST = "*"
# What allows an operation besides itself.
_IMPLIED_BY = {
    AclOperation.DESCRIBE: frozenset(
        {AclOperation.DESCRIBE, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER}
    ),
    AclOperation.DESCRIBE_CONFIGS: frozenset({AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS}),
}
# The resource that stands for any of its type.
_SOME_RESOURCE = "hardcode"


class StandardAuthorizer:
    """Judges by the ACLs that are passed with each question."""

    def __init__(self, super_users: Collection[str], *, allows_without_acl: bool) -> None:
        """super_users: principals. allows_without_acl: allow.everyone.if.no.acl.found."""
        self._super_users = frozenset(super_users)
        self._allows_without_acl = allows_without_acl

    def allows(
        self, acls: Acls, client: Client, operation: AclOperation, resource_type: ResourceType, name: str
    ) -> bool:
        """Return whether the client may do this with the resource of that name."""
        principal = str(client.principal)
        if principal in self._super_users:
            return True
        is_covered = is_allowed = False
        for acl in acls.of_resource(resource_type, name):
            is_covered = True
            if not _counts(acl, principal, client.host, operation):
                continue
            if acl.permission is AclPermission.DENY:
                return False
            is_allowed = True
        return is_allowed or (self._allows_without_acl and not is_covered)

    def allows_any(self, acls: Acls, client: Client, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Return whether the client may do this with some resource of the type, one that there is or might be."""
        if self.allows(acls, client, operation, resource_type, _SOME_RESOURCE):
            return True
        principals = (str(client.principal), EVERY_USER)
        denied: set[tuple[PatternType, str]] = set()
        allowed: dict[tuple[PatternType, str], None] = {}
        for acl in acls:
            if (
                acl.resource_type is not resource_type
                or acl.host not in (client.host, EVERY_HOST)
                or acl.principal not in principals
                or acl.operation not in (operation, AclOperation.ALL)
            ):
                continue
            if acl.permission is AclPermission.DENY:
                denied.add((acl.pattern_type, acl.name))
            else:
                allowed[acl.pattern_type, acl.name] = None
        every = (PatternType.LITERAL, WILDCARD)
        if every in denied:
            return False
        # By their lengths, because a name has up to 32,767 prefixes.
        lengths = {len(name) for pattern_type, name in denied if pattern_type is PatternType.PREFIXED}
        return every in allowed or any(not _is_dominated(*each, denied, lengths) for each in allowed)


def _counts(acl: AclBinding, principal: str, host: str, operation: AclOperation) -> bool:
    """Return whether an ACL that covers the resource says something about this client and operation."""
    if acl.principal not in (principal, EVERY_USER) or acl.host not in (host, EVERY_HOST):
        return False
    if acl.operation in (AclOperation.ALL, operation):
        return True
    return acl.permission is AclPermission.ALLOW and acl.operation in _IMPLIED_BY.get(operation, ())


def _is_dominated(
    pattern_type: PatternType, name: str, denied: Collection[tuple[PatternType, str]], lengths: Collection[int]
) -> bool:
    """Return whether everything that a pattern allows is denied. lengths: of the denied prefixes."""
    if pattern_type is PatternType.LITERAL and (pattern_type, name) in denied:
        return True
    return any(length <= len(name) and (PatternType.PREFIXED, name[:length]) in denied for length in lengths)
