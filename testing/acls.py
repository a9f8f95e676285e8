"""The ACLs of a broker: list, create and delete them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ..admin.operations import acl_operations
from ..admin.operations.acl_operations import (
    Acl,
    AclList,
    AclMatch,
    AclPage,
    AclQuery,
    OperationName,
    PatternName,
    PermissionName,
    ResourceName,
)
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, RemoteCall, all_numbered, all_remote, parameters_of

PATH = "/v1/acls"
# Within RemoteAcls, `list` is the method.
AclItems = list[Acl]


class AclValues(TypedDict, total=False):
    """The values that the fields of an ACL may have. A field that is missing here may have any."""

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
        return all_numbered(self._call, acl_operations.list_acls, AclQuery, convert(dict(values), AclMatch))


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


class RemoteAcls:
    """The ACLs of RemoteBroker. Its methods raise CallError and Unreachable, and RuleError for a wrong value."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call of the admin API."""
        self._call = call

    def list(self, **values: Unpack[AclValues]) -> AclItems:
        """Return the ACLs that have all of these values; as Acls.list."""
        return all_remote(self._call, PATH, AclPage, **_parameters_of(values))

    def create(self, **values: Unpack[AclValues]) -> Acl:
        """Create an ACL and return it; as Acls.create."""
        return convert(self._call("POST", PATH, convert(dict(values), Acl)), Acl)

    def delete(self, **values: Unpack[AclValues]) -> AclItems:
        """Delete ACLs and return them; as Acls.delete."""
        return convert(self._call("DELETE", PATH, None, **_parameters_of(values)), AclList).items


def _parameters_of(values: AclValues) -> dict[str, object]:
    return parameters_of(convert(dict(values), AclMatch))
