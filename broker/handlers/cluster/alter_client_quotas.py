"""AlterClientQuotas (49), versions 0-1.

v1 flexible.
Source: ControllerApis.handleAlterClientQuotas and ClientQuotaControlManager.alterClientQuotas, Kafka 4.3.0;
tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

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
    names_of,
)
from ...metadata.client_quotas_image import IP, QuotaEntity, entity_of
from ...requests.request_context import RequestContext, SteppedApiHandler
from ...runtime.deferred import Deferred
from ...runtime.long_work import Steps, for_each

# The result of each entity of a request.
_Results = dict[QuotaEntity, KafkaError | None]


def handle(
    context: RequestContext, request: AlterClientQuotasRequest
) -> Steps[AlterClientQuotasResponse | Deferred[AlterClientQuotasResponse]]:
    """Change the quotas of each entity, unless validate_only; an error of one does not affect the others."""
    hosts = yield from find_hosts(names_of(requested).get(IP) for requested in request.entries)
    results: _Results = {}
    alterations: list[Alteration] = []
    for requested in request.entries:
        entity = entity_of(names_of(requested))
        if entity in results or has_duplicate_key(requested):
            # Of an entity that is named twice, Kafka makes the first change.
            results[entity] = duplicate_error(entity)
        else:
            results[entity] = _check(requested, hosts, alterations)
        yield None
    entries = yield from for_each(_entry, results.items())
    if request.validate_only:
        return AlterClientQuotasResponse(entries=entries)
    context.node.controller.alter_client_quotas(alterations)

    def respond(storage_error: KafkaError | None) -> AlterClientQuotasResponse:
        if storage_error is None:
            return AlterClientQuotasResponse(entries=entries)
        failed = [_entry((entity, error or storage_error)) for entity, error in results.items()]
        return AlterClientQuotasResponse(entries=failed)

    return context.node.controller.when_saved(respond)


def _check(requested: RequestEntryData, hosts: Hosts, alterations: list[Alteration]) -> KafkaError | None:
    """Add the alteration to alterations, or return its error."""
    try:
        alterations.append(check_alteration(names_of(requested), changes_of(requested), hosts))
    except KafkaError as error:
        return error
    return None


def _entry(result: tuple[QuotaEntity, KafkaError | None]) -> ResponseEntryData:
    entity, error = result
    return ResponseEntryData(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
    )


HANDLER = SteppedApiHandler(AlterClientQuotasRequest.read, handle)
