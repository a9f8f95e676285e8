"""The ACLs of a broker: list, create and delete them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ..admin.operations import acl_operations
from ..admin.operations.acl_operations import (
    Acl,
    AclMatch,
    AclQuery,
    OperationName,
    PatternName,
    PermissionName,
    ResourceName,
)
from ..admin.paging import LIMIT_MAX
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, all_items


class AclValues(TypedDict, total=False):
    """The values of ACLs; those without one may have any."""

    resource_type: ResourceName
    name: str
    pattern_type: PatternName
    principal: str
    host: str
    operation: OperationName
    permission: PermissionName


class _Acls:
    """The reading operations, which wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self, **values: Unpack[AclValues]) -> list[Acl]:
        """Return the ACLs that have all of these values, in the order of their creation. Raises RuleError."""
        query = convert(dict(values), AclMatch)
        fields = {name: getattr(query, name) for name in query.__struct_fields__}
        return self._call(
            lambda control: all_items(
                lambda since: acl_operations.list_acls(
                    control, AclQuery(**fields, since=int(since or 0), limit=LIMIT_MAX)
                )
            )
        )


class Acls(_Acls):
    """The ACLs of Broker."""

    def __init__(self, call: ControlCall, perform: Perform) -> None:
        """call, perform: run a function, or an operation that waits, on the broker's thread."""
        super().__init__(call)
        self._perform = perform

    def create(self, **values: Unpack[AclValues]) -> Acl:
        """Create an ACL and return it: create(principal="User:a", operation="WRITE", resource_type="TOPIC", name="t").

        pattern_type is LITERAL, host "*" and permission ALLOW by default. Raises RuleError for a wrong value, CallError
        without an authorizer.
        """
        body = convert(dict(values), Acl)
        return self._perform(lambda control: acl_operations.create_acl(control, body))

    def delete(self, **values: Unpack[AclValues]) -> list[Acl]:
        """Delete the ACLs that have all of these values, without any all ACLs, and return them. Raises as create."""
        query = convert(dict(values), AclMatch)
        return self._perform(lambda control: acl_operations.delete_acls(control, query)).items


class AsyncAcls(_Acls):
    """The ACLs of AsyncBroker."""

    def __init__(self, call: ControlCall, perform: AsyncPerform) -> None:
        """call, perform: run a function, or an operation that waits, on the running event loop."""
        super().__init__(call)
        self._perform = perform

    async def create(self, **values: Unpack[AclValues]) -> Acl:
        """Create an ACL and return it; as Acls.create."""
        body = convert(dict(values), Acl)
        return await self._perform(lambda control: acl_operations.create_acl(control, body))

    async def delete(self, **values: Unpack[AclValues]) -> list[Acl]:
        """Delete ACLs and return them; as Acls.delete."""
        query = convert(dict(values), AclMatch)
        return (await self._perform(lambda control: acl_operations.delete_acls(control, query))).items
