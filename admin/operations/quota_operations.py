"""Operations on the quotas of clients: list, set and delete them. Keys are Kafka's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins

from ...broker.metadata.client_quota_control import Alteration, Hosts, check_alteration, find_hosts
from ...broker.metadata.client_quotas_image import CLIENT_ID, IP, USER, QuotaEntity
from ...broker.runtime.long_work import for_each
from ...faults.strict_json import convert
from ...protocol.error_codes import KafkaError
from ..control import Control
from ..errors import CallError
from ..long_calls import run_long_call, wait_until_saved
from ..operation import Operation
from ..paging import LIMIT_DEFAULT, Limit, page_of

TAG = "quotas"
# A name of the protocol; the longest one has 32,767 characters.
Name = Annotated[str, Meta(min_length=1, max_length=32_767)]
NameOrDefault = Annotated[str, Meta(max_length=32_767)]

# Kafka's types of entities, by the fields of the models.
_TYPES = {"user": USER, "client_id": CLIENT_ID, "ip": IP}
_FIELDS = {kind: field for field, kind in _TYPES.items()}


class EntityQuotas(Struct, kw_only=True, forbid_unknown_fields=True):
    """The quotas of an entity: a user, a client id, a user with a client id, or an IP address (or name of a host).

    user, client_id, ip: null is the default of the type, for all names without a quota of their own.
    The others are Kafka's keys. A call that sets quotas removes a quota with null, and keeps the quotas that it omits.
    """

    user: Name | UnsetType | None = UNSET
    client_id: Name | UnsetType | None = UNSET
    ip: Name | UnsetType | None = UNSET
    producer_byte_rate: float | UnsetType | None = UNSET
    consumer_byte_rate: float | UnsetType | None = UNSET
    request_percentage: float | UnsetType | None = UNSET
    controller_mutation_rate: float | UnsetType | None = UNSET
    connection_creation_rate: float | UnsetType | None = UNSET


class QuotaMatch(Struct, kw_only=True, forbid_unknown_fields=True):
    """The entities that have all of these names; an empty name is the default of the type.

    strict: only entities that have no name of another type.
    """

    user: NameOrDefault | UnsetType = UNSET
    client_id: NameOrDefault | UnsetType = UNSET
    ip: NameOrDefault | UnsetType = UNSET
    strict: bool = False


class QuotaQuery(QuotaMatch, kw_only=True, forbid_unknown_fields=True):
    """The quotas to list."""

    since: Annotated[int, Meta(ge=0, description="The number of entities to skip: `next` of the page before.")] = 0
    limit: Limit = LIMIT_DEFAULT


class QuotaPage(Struct, kw_only=True):
    """Entities with their quotas, in the order in which they got the first one."""

    items: list[EntityQuotas]
    next: str | None


class QuotaList(Struct, kw_only=True):
    """Entities with their quotas."""

    items: list[EntityQuotas]


def list_quotas(control: Control, query: QuotaQuery) -> QuotaPage:
    """List the entities that have quotas."""
    found = list(enumerate(_matching(control, query), 1))
    items, token = page_of(
        found[query.since :], query.limit, lambda each: _quotas_of(*each[1]), lambda each: str(each[0])
    )
    return QuotaPage(items=items, next=token)


async def set_quotas(control: Control, body: EntityQuotas) -> EntityQuotas:
    """Set or remove quotas of an entity, and return its quotas. They are in force for the next request."""

    async def work() -> EntityQuotas:
        names, changes = _names_and_changes(body)
        hosts = await find_hosts([names.get(IP)])
        alteration = _checked_alteration(body, names, changes, hosts)
        control.cluster.controller.alter_client_quotas([alteration])
        await wait_until_saved(control)
        entity = alteration.entity
        return _quotas_of(entity, control.cluster.image.client_quotas.quotas_of(entity))

    return await run_long_call(control, work())


async def delete_quotas(control: Control, query: QuotaMatch) -> QuotaList:
    """Delete all quotas of the entities that have all of these names, without any all quotas, and return them."""

    async def work() -> QuotaList:
        found = _matching(control, query)
        deletions = [Alteration(entity, dict.fromkeys(quotas)) for entity, quotas in found]
        items = await for_each(lambda each: _quotas_of(*each), found)
        control.cluster.controller.alter_client_quotas(deletions)
        await wait_until_saved(control)
        return QuotaList(items=items)

    return await run_long_call(control, work())


def _matching(control: Control, query: QuotaMatch) -> list[tuple[QuotaEntity, Mapping[str, float]]]:
    """Return the entities that have the names of the query, with their quotas as they are now."""
    given = {kind: getattr(query, field) for field, kind in _TYPES.items()}
    wanted = {(kind, name or None) for kind, name in given.items() if name is not UNSET}
    return [
        (entity, dict(quotas))
        for entity, quotas in control.cluster.image.client_quotas
        if wanted.issubset(entity) and (not query.strict or len(wanted) == len(entity))
    ]


def _names_and_changes(quotas: EntityQuotas) -> tuple[dict[str, str | None], dict[str, float | None]]:
    """Return the names of the entity by type, and its quotas by key."""
    fields = to_builtins(quotas)
    names = {kind: fields.pop(field) for field, kind in _TYPES.items() if field in fields}
    return names, fields


def _checked_alteration(
    body: EntityQuotas, names: Mapping[str, str | None], changes: Mapping[str, float | None], hosts: Hosts
) -> Alteration:
    """Return the alteration. Raises CallError 400, with Kafka's message, for a name or a quota that Kafka refuses."""
    if not names:
        raise _refusal("Invalid empty client quota entity", "user", None)
    try:
        of_entity = check_alteration(names, {}, hosts)
    except KafkaError as error:
        raise _refusal(error.message, "ip", body.ip) from error
    for key, value in changes.items():
        try:
            check_alteration(names, {key: value}, hosts)
        except KafkaError as error:
            raise _refusal(error.message, key, value) from error
    return of_entity._replace(changes=changes)


def _refusal(message: str, field: str, value: object) -> CallError:
    return CallError(400, message, field=field, value=value, allowed=_ALLOWED[field])


_ALLOWED = {
    "user": "one of user, client_id and ip, or user and client_id together",
    "ip": "an IP address or the name of a known host, without user and client_id",
    **dict.fromkeys(("producer_byte_rate", "consumer_byte_rate"), "an integer from 1 to 2^63, without ip"),
    **dict.fromkeys(("request_percentage", "controller_mutation_rate"), "a number > 0, without ip"),
    "connection_creation_rate": "an integer from 1 to 2^31 - 1, with ip",
}


def _quotas_of(entity: QuotaEntity, quotas: Mapping[str, float]) -> EntityQuotas:
    return convert({**{_FIELDS[kind]: name for kind, name in entity}, **quotas}, EntityQuotas)


OPERATIONS = (
    Operation(method="GET", path="/v1/quotas", perform=list_quotas, tag=TAG),
    Operation(method="POST", path="/v1/quotas", perform=set_quotas, tag=TAG, errors=(409,)),
    Operation(method="DELETE", path="/v1/quotas", perform=delete_quotas, tag=TAG, errors=(409,)),
)
