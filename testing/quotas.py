"""The quotas of the clients of a broker: set, list and delete them."""

from __future__ import annotations

from typing import TypedDict, Unpack

from ..admin.operations import quota_operations
from ..admin.operations.quota_operations import EntityQuotas, QuotaList, QuotaMatch, QuotaPage, QuotaQuery
from ..faults.strict_json import convert
from .calls import AsyncPerform, ControlCall, Perform, RemoteCall, all_numbered, all_remote, parameters_of

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
        return all_numbered(self._call, quota_operations.list_quotas, QuotaQuery, _match_of(names))


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
        query = _match_of(names)
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
        query = _match_of(names)
        return (await self._perform(lambda control: quota_operations.delete_quotas(control, query))).items


class RemoteQuotas:
    """The quotas of RemoteBroker. Its methods raise CallError and Unreachable, and RuleError for a wrong type."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call of the admin API."""
        self._call = call

    def list(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Return the entities that have these names, with their quotas; as Quotas.list."""
        return all_remote(self._call, PATH, QuotaPage, **parameters_of(_match_of(names)))

    def set(self, **values: Unpack[QuotaValues]) -> EntityQuotas:
        """Set quotas of an entity, and return all that it has; as Quotas.set."""
        return convert(self._call("POST", PATH, convert(dict(values), EntityQuotas)), EntityQuotas)

    def delete(self, **names: Unpack[QuotaSelection]) -> Entities:
        """Delete quotas and return them; as Quotas.delete."""
        return convert(self._call("DELETE", PATH, None, **parameters_of(_match_of(names))), QuotaList).items


def _match_of(names: QuotaSelection) -> QuotaMatch:
    """Return the names as the admin API has them: an empty one is the default of its type. Raises RuleError."""
    return convert({name: "" if value is None else value for name, value in names.items()}, QuotaMatch)
