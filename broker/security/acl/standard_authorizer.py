"""Judges by ACLs whether a client may do something (Kafka: StandardAuthorizer), as the configs of the broker say.

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

from collections.abc import Collection, Iterable

from ....protocol.acl_types import WILDCARD, AclOperation, AclPermission, PatternType, ResourceType
from ....security.java_text import split_trimmed
from ...config.broker_config import BrokerConfig
from ...config.config_types import ConfigError
from ..principal import USER_TYPE, Client, Principal
from .acls import Acls, Patterns, Rights, right

EVERY_USER = f"{USER_TYPE}:*"
EVERY_HOST = "*"
# What allows an operation besides itself.
_IMPLIED_BY = {
    AclOperation.DESCRIBE: (AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER),
    AclOperation.DESCRIBE_CONFIGS: (AclOperation.ALTER_CONFIGS,),
}


def _any_of(operations: Iterable[AclOperation], permission: AclPermission) -> Rights:
    return sum({right(operation, permission) for operation in operations})


# What denies and what allows an operation; ALL is in both.
_DENYING = {operation: _any_of((operation, AclOperation.ALL), AclPermission.DENY) for operation in AclOperation}
_ALLOWING_DIRECTLY = {
    operation: _any_of((operation, AclOperation.ALL), AclPermission.ALLOW) for operation in AclOperation
}
_ALLOWING = {
    operation: direct | (_any_of(_IMPLIED_BY[operation], AclPermission.ALLOW) if operation in _IMPLIED_BY else 0)
    for operation, direct in _ALLOWING_DIRECTLY.items()
}
# The resource that stands for any of its type.
_SOME_RESOURCE = "hardcode"


class StandardAuthorizer:
    """Judges by the ACLs that are passed with each question."""

    def __init__(self, super_users: Collection[str], *, allows_without_acl: bool) -> None:
        """super_users: principals. allows_without_acl: allow.everyone.if.no.acl.found."""
        self._super_users = frozenset(super_users)
        self._allows_without_acl = allows_without_acl

    @property
    def a_super_user(self) -> Principal | None:
        """The first super user in the order of their names; None without any."""
        if not self._super_users:
            return None
        principal_type, _, name = min(self._super_users).partition(":")
        return Principal(name, principal_type)

    def allows(
        self, acls: Acls, client: Client, operation: AclOperation, resource_type: ResourceType, name: str
    ) -> bool:
        """Return whether the client may do this with the resource of that name."""
        principal = str(client.principal)
        if principal in self._super_users:
            return True
        rights, denying = 0, _DENYING[operation]
        for patterns in _of_client(acls, principal, client.host, resource_type):
            for of_pattern in patterns.of_resource(name):
                rights |= of_pattern
                if rights & denying:
                    return False
        if rights & _ALLOWING[operation]:
            return True
        return self._allows_without_acl and not acls.covers(resource_type, name)

    def allows_any(self, acls: Acls, client: Client, operation: AclOperation, resource_type: ResourceType) -> bool:
        """Return whether the client may do this with some resource of the type, one that there is or might be."""
        if self.allows(acls, client, operation, resource_type, _SOME_RESOURCE):
            return True
        of_client = _of_client(acls, str(client.principal), client.host, resource_type)
        denying, allowing = _DENYING[operation], _ALLOWING_DIRECTLY[operation]
        on_every = [patterns.find(PatternType.LITERAL, WILDCARD) or 0 for patterns in of_client]
        if any(rights & denying for rights in on_every):
            return False
        if any(rights & allowing for rights in on_every):
            return True
        return any(
            rights & allowing and not _is_dominated(pattern_type, name, of_client, denying)
            for patterns in of_client
            for pattern_type, name, rights in patterns.items()
        )


def _of_client(acls: Acls, principal: str, host: str, resource_type: ResourceType) -> list[Patterns[Rights]]:
    """Return the patterns of a resource type whose ACLs are for a client: its principal or every user, and its host."""
    found = [
        acls.rights_of((principal, host), resource_type),
        acls.rights_of((principal, EVERY_HOST), resource_type),
        acls.rights_of((EVERY_USER, host), resource_type),
        acls.rights_of((EVERY_USER, EVERY_HOST), resource_type),
    ]
    return [patterns for patterns in found if patterns is not None]


def _is_dominated(pattern_type: PatternType, name: str, of_client: Iterable[Patterns[Rights]], denying: Rights) -> bool:
    """Return whether everything that a pattern allows is denied: the name, or a prefix of it."""
    return any(
        (pattern_type is PatternType.LITERAL and (patterns.find(pattern_type, name) or 0) & denying)
        or any(rights & denying for rights in patterns.of_prefixes(name))
        for patterns in of_client
    )


CLASS_NAME = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
# The authorizers of clusters with ZooKeeper, which judge by the same rules. Compose files for older images name them.
FORMER_CLASS_NAMES = ("kafka.security.authorizer.AclAuthorizer", "kafka.security.auth.SimpleAclAuthorizer")


def authorizer_of(config: BrokerConfig) -> StandardAuthorizer:
    """Return the authorizer. Raises ConfigError for another class, and for a super user that is no principal."""
    if config.authorizer_class_name not in (CLASS_NAME, *FORMER_CLASS_NAMES):
        raise ConfigError(f"authorizer.class.name: got {config.authorizer_class_name}; allowed: {CLASS_NAME}")
    super_users = split_trimmed(config.super_users, ";")
    for user in super_users:
        if ":" not in user:
            raise ConfigError(f"super.users: got {user}; expected principals such as User:admin, separated by ;")
    return StandardAuthorizer(super_users, allows_without_acl=config.allow_everyone_if_no_acl_found)
