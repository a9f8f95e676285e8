"""Operations on the ACLs of the cluster: list, create and delete them. Names are as in Kafka's tools."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from ...broker.runtime.long_work import for_each
from ...broker.security.acl.acls import AclBinding, AclFilter
from ...broker.security.acl.standard_authorizer import CLASS_NAME
from ...faults.strict_json import convert
from ...protocol.acl_types import AclOperation, AclPermission, PatternType, ResourceType
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import CallError, conflict
from ..long_calls import run_long_call, wait_until_saved
from ..operation import Operation
from ..paging import LIMIT_DEFAULT, Limit, page_of

TAG = "security"
NO_AUTHORIZER = f"the broker has no authorizer: set authorizer.class.name={CLASS_NAME}"

# Kafka's names. ANY, MATCH and UNKNOWN are for filters only.
ResourceName = Literal["TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"]
PatternName = Literal["LITERAL", "PREFIXED"]
OperationName = Literal[
    "ALL",
    "READ",
    "WRITE",
    "CREATE",
    "DELETE",
    "ALTER",
    "DESCRIBE",
    "CLUSTER_ACTION",
    "DESCRIBE_CONFIGS",
    "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
    "CREATE_TOKENS",
    "DESCRIBE_TOKENS",
    "TWO_PHASE_COMMIT",
]
PermissionName = Literal["ALLOW", "DENY"]
# The longest string of the protocol.
Text = Annotated[str, Meta(min_length=1, max_length=32_767)]
Word = TypeVar("Word", bound=IntEnum)


class Acl(Struct, kw_only=True, forbid_unknown_fields=True):
    """An ACL.

    name: of the resource, "*" for all of its type, "kafka-cluster" for CLUSTER. principal: such as "User:alice", or
    "User:*". host: the address of clients, "*" for every one.
    """

    resource_type: ResourceName
    name: Text
    pattern_type: PatternName = "LITERAL"
    principal: Text
    host: Text = "*"
    operation: OperationName
    permission: PermissionName = "ALLOW"


class AclMatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """The ACLs that have all of these values; null and no value stand for any."""

    resource_type: ResourceName | None = None
    name: Text | None = None
    pattern_type: PatternName | None = None
    principal: Text | None = None
    host: Text | None = None
    operation: OperationName | None = None
    permission: PermissionName | None = None


class AclQuery(AclMatch, kw_only=True, forbid_unknown_fields=True):
    """The ACLs to list."""

    since: Annotated[int, Meta(ge=0, description="The number of ACLs to skip: `next` of the page before.")] = 0
    limit: Limit = LIMIT_DEFAULT


class AclPage(Struct, kw_only=True):
    """ACLs in the order of their creation."""

    items: list[Acl]
    next: str | None


class AclList(Struct, kw_only=True):
    """ACLs."""

    items: list[Acl]


def list_acls(control: Control, query: AclQuery) -> AclPage:
    """List the ACLs."""
    found = list(enumerate(control.cluster.image.security.acls.matching(_filter_of(query)), 1))
    items, token = page_of(found[query.since :], query.limit, lambda each: _info(each[1]), lambda each: str(each[0]))
    return AclPage(items=items, next=token)


async def create_acl(control: Control, body: Acl) -> Acl:
    """Create an ACL, unless it is there, and return it. It is in force for the next request of each client."""
    _check_authorizer(control)
    acl = AclBinding(
        ResourceType[body.resource_type],
        body.name,
        PatternType[body.pattern_type],
        body.principal,
        body.host,
        AclOperation[body.operation],
        AclPermission[body.permission],
    )

    async def work() -> Acl:
        try:
            control.cluster.controller.create_acl(acl)
        except KafkaError as error:
            field = "principal" if ":" not in body.principal else "name"
            allowed = "a principal such as User:alice" if field == "principal" else "kafka-cluster"
            raise CallError(400, error.message, field=field, value=getattr(body, field), allowed=allowed) from error
        await wait_until_saved(control)
        return _info(acl)

    return await run_long_call(control, work())


async def delete_acls(control: Control, query: AclMatch) -> AclList:
    """Delete the ACLs that have all of these values, without any all ACLs, and return them."""
    _check_authorizer(control)

    async def work() -> AclList:
        found = control.cluster.image.security.acls.matching(_filter_of(query))
        await for_each(control.cluster.controller.delete_acl, found)
        await wait_until_saved(control)
        return AclList(items=await for_each(_info, found))

    return await run_long_call(control, work())


def _check_authorizer(control: Control) -> None:
    if control.node.authorizer is None:
        raise conflict(NO_AUTHORIZER)


def _filter_of(query: AclMatch) -> AclFilter:
    return AclFilter(
        _word(ResourceType, query.resource_type),
        query.name,
        _word(PatternType, query.pattern_type),
        query.principal,
        query.host,
        _word(AclOperation, query.operation),
        _word(AclPermission, query.permission),
    )


def _word(words: type[Word], name: str | None) -> Word:
    return words["ANY" if name is None else name]


def _info(acl: AclBinding) -> Acl:
    fields = {name: value.name if isinstance(value, IntEnum) else value for name, value in acl._asdict().items()}
    return convert(fields, Acl)


OPERATIONS = (
    Operation(method="GET", path="/v1/acls", perform=list_acls, tag=TAG),
    Operation(method="POST", path="/v1/acls", perform=create_acl, tag=TAG, status=201, errors=(409,)),
    Operation(method="DELETE", path="/v1/acls", perform=delete_acls, tag=TAG, errors=(409,)),
)
