"""The requests that alter and describe client quotas."""

from __future__ import annotations

from collections.abc import Mapping

from fauxka.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    OpData,
    RequestEntryData,
)
from fauxka.protocol.messages.describe_client_quotas import ComponentData, DescribeClientQuotasRequest

USER, CLIENT_ID, IP = "user", "client-id", "ip"
PRODUCE, FETCH, REQUEST = "producer_byte_rate", "consumer_byte_rate", "request_percentage"
MUTATION, CONNECTION = "controller_mutation_rate", "connection_creation_rate"
EXACT, DEFAULT, ANY = 0, 1, 2

# The name of each type; None for the default.
Entity = Mapping[str, str | None] | tuple[tuple[str, str | None], ...]
# By key; None removes the quota.
Values = Mapping[str, float | None] | tuple[tuple[str, float | None], ...]


def entry(entity: Entity, values: Values) -> RequestEntryData:
    """Return the alteration of one entity. Pairs may repeat a type or a key."""
    names = entity.items() if isinstance(entity, Mapping) else entity
    quotas = values.items() if isinstance(values, Mapping) else values
    return RequestEntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in names],
        ops=[OpData(key=key, value=value or 0.0, remove=value is None) for key, value in quotas],
    )


def altering(*entries: RequestEntryData, validate_only: bool = False) -> AlterClientQuotasRequest:
    """Return the request of these alterations."""
    return AlterClientQuotasRequest(entries=list(entries), validate_only=validate_only)


def describing(*components: tuple[str, int, str | None], strict: bool = False) -> DescribeClientQuotasRequest:
    """Return the request of these components: type, kind of match, and name."""
    return DescribeClientQuotasRequest(
        components=[ComponentData(entity_type=kind, match_type=match, match=name) for kind, match, name in components],
        strict=strict,
    )
