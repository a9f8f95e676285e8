"""The quotas of the clients of a broker: set, list and delete them.

Made of admin/methods/quotas.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from typing import Unpack

from msgspec import structs

from ...faults.strict_json import convert
from ..methods.quotas import Entities, QuotaSelection, QuotaValues, match_of
from ..operations import quota_operations
from ..operations.quota_operations import EntityQuotas, QuotaQuery
from .base import AsyncMethods


class AsyncQuotas(AsyncMethods):
    """The quotas of clients. Raises InvalidValueError for a wrong type."""

    async def list(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Return the entities that have these names, with their quotas, the oldest first."""
        return await self._all(quota_operations.list_quotas, QuotaQuery(**structs.asdict(match_of(names))))

    async def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has: set(client_id="my-app", producer_byte_rate=20_000).

        user=None, client_id=None and ip=None are the defaults of their type. A quota of None is removed.
        Raises CallError with Kafka's message for what Kafka refuses.
        """
        return await self._perform(quota_operations.set_quotas, body=convert(dict(values), EntityQuotas))

    async def delete(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Delete the quotas of the entities that have these names, without any all quotas, and return them."""
        deleted = await self._perform(quota_operations.delete_quotas, query=match_of(names))
        return deleted.items
