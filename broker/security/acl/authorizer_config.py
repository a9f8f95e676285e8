"""The authorizer that authorizer.class.name, super.users and allow.everyone.if.no.acl.found describe."""

from __future__ import annotations

from ....security.java_text import split_trimmed
from ...config.broker_config import BrokerConfig
from ...config.config_types import ConfigError
from .standard_authorizer import StandardAuthorizer

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
