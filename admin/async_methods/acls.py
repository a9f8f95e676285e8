"""The ACLs of a broker: list, create and delete them.

Made of admin/methods/acls.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from typing import Unpack

from ...faults.strict_json import convert
from ..methods.acls import AclItems, AclValues
from ..operations import acl_operations
from ..operations.acl_operations import (
    Acl,
    AclMatch,
    AclQuery,
)
from .base import AsyncMethods


class AsyncAcls(AsyncMethods):
    """The ACLs. Raises InvalidValueError for a wrong value."""

    async def list(self, **values: Unpack[AclValues]) -> AclItems:
        """Return the ACLs that have all of these values, in the order of their creation."""
        return await self._all(acl_operations.list_acls, convert(dict(values), AclQuery))

    async def create(self, **values: Unpack[AclValues]) -> Acl:
        """Create an ACL and return it: create(principal="User:a", operation="WRITE", resource_type="TOPIC", name="t").

        pattern_type is LITERAL, host "*" and permission ALLOW by default. Raises CallError without an authorizer.
        """
        return await self._perform(acl_operations.create_acl, body=convert(dict(values), Acl))

    async def delete(self, **values: Unpack[AclValues]) -> AclItems:
        """Delete the ACLs that have all of these values, without any all ACLs, and return them. Raises as create."""
        deleted = await self._perform(acl_operations.delete_acls, query=convert(dict(values), AclMatch))
        return deleted.items
