"""The quotas of the clients of a broker: set, list and delete them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from ..admin.operations import quota_operations
from ..admin.operations.quota_operations import EntityQuotas, QuotaList, QuotaMatch, QuotaPage, QuotaQuery
from ..admin.paging import LIMIT_MAX
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, RemoteCall, all_items

PATH = "/v1/quotas"
# Within RemoteQuotas, `list` is the method.
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


class _Quotas:
    """The reading operations, which wait for nothing."""

    def __init__(self, call: ControlCall) -> None:
        self._call = call

    def list(self, **names: Unpack[QuotaSelection]) -> list[EntityQuotas]:
        """Return the entities that have these names, with their quotas, the oldest first. Raises RuleError."""
        query = _query_of(names)
        return self._call(
            lambda control: all_items(
                lambda since: quota_operations.list_quotas(
                    control, convert({**query, "since": int(since or 0), "limit": LIMIT_MAX}, QuotaQuery)
                )
            )
        )


class Quotas(_Quotas):
    """The quotas of Broker."""

    def __init__(self, call: ControlCall, perform: Perform) -> None:
        """call, perform: run a function, or an operation that waits, on the broker's thread."""
        super().__init__(call)
        self._perform = perform

    def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has: set(client_id="my-app", producer_byte_rate=20_000).

        user=None, client_id=None and ip=None are the defaults of their type. A quota of None is removed.
        Raises RuleError for a wrong type, CallError with Kafka's message for what Kafka refuses.
        """
        body = convert(dict(values), EntityQuotas)
        return self._perform(lambda control: quota_operations.set_quotas(control, body))

    def delete(self, **names: Unpack[QuotaSelection]) -> list[EntityQuotas]:
        """Delete the quotas of the entities that have these names, without any all quotas, and return them."""
        query = convert(_query_of(names), QuotaMatch)
        return self._perform(lambda control: quota_operations.delete_quotas(control, query)).items


class AsyncQuotas(_Quotas):
    """The quotas of AsyncBroker."""

    def __init__(self, call: ControlCall, perform: AsyncPerform) -> None:
        """call, perform: run a function, or an operation that waits, on the running event loop."""
        super().__init__(call)
        self._perform = perform

    async def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has; as Quotas.set."""
        body = convert(dict(values), EntityQuotas)
        return await self._perform(lambda control: quota_operations.set_quotas(control, body))

    async def delete(self, **names: Unpack[QuotaSelection]) -> list[EntityQuotas]:
        """Delete quotas and return them; as Quotas.delete."""
        query = convert(_query_of(names), QuotaMatch)
        return (await self._perform(lambda control: quota_operations.delete_quotas(control, query))).items


class RemoteQuotas:
    """The quotas of RemoteBroker. Its methods raise CallError and Unreachable, and RuleError for a wrong type."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call of the admin API."""
        self._call = call

    def list(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Return the entities that have these names, with their quotas; as Quotas.list."""
        query = _parameters_of(names)
        return all_items(
            lambda since: convert(self._call("GET", PATH, None, since=since or 0, limit=LIMIT_MAX, **query), QuotaPage)
        )

    def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has; as Quotas.set."""
        return convert(self._call("POST", PATH, convert(dict(values), EntityQuotas)), EntityQuotas)

    def delete(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Delete quotas and return them; as Quotas.delete."""
        return convert(self._call("DELETE", PATH, None, **_parameters_of(names)), QuotaList).items


def _query_of(names: Mapping[str, object]) -> dict[str, Any]:
    """Return the names as QuotaMatch has them: an empty name is the default of its type."""
    return {name: "" if value is None else value for name, value in names.items()}


def _parameters_of(names: Mapping[str, object]) -> dict[str, object]:
    """Return the names as query parameters. Raises RuleError."""
    query = _query_of(names)
    convert(query, QuotaMatch)
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
