"""The words of ACLs by their numbers on the wire (Kafka: org.apache.kafka.common.acl, common.resource)."""

from __future__ import annotations

from enum import IntEnum

# The name of a resource that stands for all of its type (Kafka: ResourcePattern.WILDCARD_RESOURCE).
WILDCARD = "*"
# The name of the only resource of type CLUSTER (Kafka: Resource.CLUSTER_NAME).
CLUSTER_NAME = "kafka-cluster"


class ResourceType(IntEnum):
    """What an ACL protects. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How the name of an ACL covers resources. ANY and MATCH are for filters."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """What a client does with a resource. The number is also the bit in authorized operations. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermission(IntEnum):
    """What an ACL does. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3
