"""The ACLs of a broker: list, create and delete them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ...faults.strict_json import convert
from ..operations import acl_operations
from ..operations.acl_operations import (
    Acl,
    AclMatch,
    AclQuery,
    OperationName,
    PatternName,
    PermissionName,
    ResourceName,
)
from .base import Methods

# Within the class, `list` is the method.
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


class Acls(Methods):
    """The ACLs. Raises InvalidValueError for a wrong value."""

    def list(self, **values: Unpack[AclValues]) -> AclItems:
        """Return the ACLs that have all of these values, in the order of their creation."""
        return self._all(acl_operations.list_acls, convert(dict(values), AclQuery))

    def create(self, **values: Unpack[AclValues]) -> Acl:
        """Create an ACL and return it: create(principal="User:a", operation="WRITE", resource_type="TOPIC", name="t").

        pattern_type is LITERAL, host "*" and permission ALLOW by default. Raises CallError without an authorizer.
        """
        return self._perform(acl_operations.create_acl, body=convert(dict(values), Acl))

    def delete(self, **values: Unpack[AclValues]) -> AclItems:
        """Delete the ACLs that have all of these values, without any all ACLs, and return them. Raises as create."""
        deleted = self._perform(acl_operations.delete_acls, query=convert(dict(values), AclMatch))
        return deleted.items
