"""The quotas of the clients of a broker: set, list and delete them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from msgspec import structs

from ...faults.strict_json import convert
from ..operations import quota_operations
from ..operations.quota_operations import EntityQuotas, QuotaMatch, QuotaQuery
from .base import Methods

# Within the class, `list` is the method.
Entities = list[EntityQuotas]


class EntityNames(TypedDict, total=False):
    """The names of an entity. None is the default of the type."""

    user: str | None
    client_id: str | None
    ip: str | None


class QuotaValues(EntityNames, total=False):
    """The names of an entity and its quotas by Kafka's keys; None removes a quota."""

    producer_byte_rate: float | None
    consumer_byte_rate: float | None
    request_percentage: float | None
    controller_mutation_rate: float | None
    connection_creation_rate: float | None


class QuotaSelection(EntityNames, total=False):
    """The names that entities have. strict: only entities that have no name of another type."""

    strict: bool


class Quotas(Methods):
    """The quotas of clients. Raises InvalidValueError for a wrong type."""

    def list(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Return the entities that have these names, with their quotas, the oldest first."""
        return self._all(quota_operations.list_quotas, QuotaQuery(**structs.asdict(match_of(names))))

    def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has: set(client_id="my-app", producer_byte_rate=20_000).

        user=None, client_id=None and ip=None are the defaults of their type. A quota of None is removed.
        Raises CallError with Kafka's message for what Kafka refuses.
        """
        return self._perform(quota_operations.set_quotas, body=convert(dict(values), EntityQuotas))

    def delete(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Delete the quotas of the entities that have these names, without any all quotas, and return them."""
        deleted = self._perform(quota_operations.delete_quotas, query=match_of(names))
        return deleted.items


def match_of(names: QuotaSelection) -> QuotaMatch:
    """Return the names as the admin API has them: an empty one is the default of its type. Raises InvalidValueError."""
    return convert({name: "" if value is None else value for name, value in names.items()}, QuotaMatch)
