"""ACLs as the capture writes them, and the requests that create, list and delete them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias, TypedDict, Unpack

from fauxka.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from fauxka.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fauxka.protocol.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

# The one resource of type CLUSTER, and the name of an ACL for all resources of its type.
CLUSTER_NAME = "kafka-cluster"
WILDCARD = "*"
# Resources that a case does not create, so that their names are the same in all.
SHARED_TYPES = {"CLUSTER", "USER"}
ANY = 1


class ResourceType(IntEnum):
    """org.apache.kafka.common.resource.ResourceType."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """org.apache.kafka.common.resource.PatternType."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """org.apache.kafka.common.acl.AclOperation."""

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


class Permission(IntEnum):
    """org.apache.kafka.common.acl.AclPermissionType."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


@dataclass(frozen=True)
class Acl:
    """One ACL. Types, operation and permission are names of the enumerations above."""

    resource_type: str
    name: str
    operation: str
    permission: str = "ALLOW"
    pattern: str = "LITERAL"
    principal: str = "User:alice"
    host: str = "*"

    def in_names_of(self, prefix: str) -> Acl:
        """Return the ACL for the resource as a case names it, with its prefix before."""
        is_shared = self.resource_type in SHARED_TYPES or (self.name == WILDCARD and self.pattern == "LITERAL")
        return self if is_shared else replace(self, name=prefix + self.name)

    def creation(self) -> AclCreation:
        """Return the entry of a CreateAcls request."""
        return AclCreation(
            resource_type=ResourceType[self.resource_type],
            resource_name=self.name,
            resource_pattern_type=PatternType[self.pattern],
            principal=self.principal,
            host=self.host,
            operation=Operation[self.operation],
            permission_type=Permission[self.permission],
        )


Acls: TypeAlias = tuple[Acl, ...]


class AclFields(TypedDict, total=False):
    """Fields of an ACL that have a default."""

    permission: str
    pattern: str
    principal: str
    host: str


def on(resource_type: str, name: str, *operations: str, **fields: Unpack[AclFields]) -> Acls:
    """Return an ACL for each operation."""
    return tuple(Acl(resource_type, name, operation, **fields) for operation in operations)


def on_topic(name: str, *operations: str, **fields: Unpack[AclFields]) -> Acls:
    """Return an ACL for each operation."""
    return on("TOPIC", name, *operations, **fields)


def on_group(name: str, *operations: str, **fields: Unpack[AclFields]) -> Acls:
    """Return an ACL for each operation."""
    return on("GROUP", name, *operations, **fields)


def on_transactional_id(name: str, *operations: str, **fields: Unpack[AclFields]) -> Acls:
    """Return an ACL for each operation."""
    return on("TRANSACTIONAL_ID", name, *operations, **fields)


def on_cluster(*operations: str, **fields: Unpack[AclFields]) -> Acls:
    """Return an ACL for each operation."""
    return on("CLUSTER", CLUSTER_NAME, *operations, **fields)


def creating_acls(*acls: Acl) -> CreateAclsRequest:
    """Return a request to create the ACLs."""
    return CreateAclsRequest(creations=[acl.creation() for acl in acls])


@dataclass(frozen=True)
class AclFilter:
    """A filter of ACLs with the codes that are sent; without arguments one for every ACL."""

    resource_type: int = ANY
    name: str | None = None
    pattern: int = ANY
    principal: str | None = None
    host: str | None = None
    operation: int = ANY
    permission: int = ANY

    def in_names_of(self, prefix: str) -> AclFilter:
        """Return the filter for a name as a case has it, with its prefix before."""
        return self if self.name in (None, "", WILDCARD, CLUSTER_NAME) else replace(self, name=f"{prefix}{self.name}")

    def describing(self) -> DescribeAclsRequest:
        """Return a request for the ACLs that match."""
        return DescribeAclsRequest(
            resource_type_filter=self.resource_type,
            resource_name_filter=self.name,
            pattern_type_filter=self.pattern,
            principal_filter=self.principal,
            host_filter=self.host,
            operation=self.operation,
            permission_type=self.permission,
        )


EVERY_ACL = AclFilter()


def deleting_acls(*filters: AclFilter) -> DeleteAclsRequest:
    """Return a request to delete the ACLs that match."""
    return DeleteAclsRequest(
        filters=[
            DeleteAclsFilter(
                resource_type_filter=entry.resource_type,
                resource_name_filter=entry.name,
                pattern_type_filter=entry.pattern,
                principal_filter=entry.principal,
                host_filter=entry.host,
                operation=entry.operation,
                permission_type=entry.permission,
            )
            for entry in filters
        ]
    )


def acls_of(response: DescribeAclsResponse) -> set[Acl]:
    """Return the ACLs of a response."""
    return {
        Acl(
            ResourceType(resource.resource_type).name,
            resource.resource_name,
            Operation(acl.operation).name,
            Permission(acl.permission_type).name,
            PatternType(resource.pattern_type).name,
            acl.principal,
            acl.host,
        )
        for resource in response.resources
        for acl in resource.acls
    }
