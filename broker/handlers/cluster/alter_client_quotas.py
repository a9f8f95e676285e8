"""AlterClientQuotas (49), versions 0-1.

v1 flexible.
Source: ControllerApis.handleAlterClientQuotas and ClientQuotaControlManager.alterClientQuotas, Kafka 4.3.0;
tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....protocol.error_codes import KafkaError
from ....protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntityData,
    RequestEntryData,
    ResponseEntryData,
)
from ...metadata.client_quota_control import (
    Alteration,
    Hosts,
    changes_of,
    check_alteration,
    duplicate_error,
    find_hosts,
    has_duplicate_key,
)
from ...metadata.client_quotas_image import IP, QuotaEntity, entity_of
from ...requests.request_context import RequestContext
from ...runtime.long_work import for_each, in_turn, step

# The result of each entity of a request.
_Results = dict[QuotaEntity, KafkaError | None]


async def handle(context: RequestContext, request: AlterClientQuotasRequest) -> AlterClientQuotasResponse:
    """Change the quotas of each entity, unless validate_only; an error of one does not affect the others."""
    every_names = await in_turn(_names_of, request.entries)
    hosts = await find_hosts(names.get(IP) for names in every_names)
    results: _Results = {}
    alterations: list[Alteration] = []
    for requested, names in zip(request.entries, every_names, strict=True):
        entity = entity_of(names)
        await step()
        if entity in results or has_duplicate_key(requested):
            # Of an entity that is named twice, Kafka makes the first change.
            results[entity] = duplicate_error(entity)
        else:
            results[entity] = _check(names, changes_of(requested), hosts, alterations)
        await step()
    entries = await in_turn(_entry, results.items())
    if request.validate_only:
        return AlterClientQuotasResponse(entries=entries)
    context.node.controller.alter_client_quotas(alterations)
    storage_error = await context.node.controller.saved()
    if storage_error is not None:
        for entry in entries:
            if entry.error_code == 0:
                entry.error_code, entry.error_message = storage_error.code, storage_error.message
    return AlterClientQuotasResponse(entries=entries)


async def _names_of(requested: RequestEntryData) -> dict[str, str | None]:
    """Return the names of an entity by type; the last of several of a type counts."""
    names: dict[str, str | None] = {}
    for each in requested.entity:
        names[each.entity_type] = each.entity_name
        await step()
    return names


def _check(
    names: Mapping[str, str | None],
    changes: Mapping[str, float | None],
    hosts: Hosts,
    alterations: list[Alteration],
) -> KafkaError | None:
    """Add the alteration to alterations, or return its error."""
    try:
        alterations.append(check_alteration(names, changes, hosts))
    except KafkaError as error:
        return error
    return None


async def _entry(result: tuple[QuotaEntity, KafkaError | None]) -> ResponseEntryData:
    entity, error = result
    return ResponseEntryData(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=await for_each(_component, entity),
    )


def _component(named: tuple[str, str | None]) -> EntityData:
    kind, name = named
    return EntityData(entity_type=kind, entity_name=name)
