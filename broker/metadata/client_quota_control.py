"""Validates alterations and filters of client quotas (Kafka: ClientQuotaControlManager, image/ClientQuotasImage).

Source: ClientQuotaControlManager and ClientQuotasImage.describe, Kafka 4.3.0; tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

import math
import socket
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

from ...protocol.error_codes import ErrorCode, KafkaError
from ..runtime.long_work import in_thread, step
from .client_quotas_image import (
    CLIENT_ID,
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    IP,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
    USER,
    QuotaEntity,
    entity_of,
)

if TYPE_CHECKING:
    from ...protocol.messages.alter_client_quotas import RequestEntryData
    from ...protocol.messages.describe_client_quotas import DescribeClientQuotasRequest

# The IP addresses of each known host.
Hosts = Mapping[str, frozenset[str]]

# A value of the types LONG and INT may differ by this much from an integer.
_FRACTION_MAX = 1e-6


class _KeyType(NamedTuple):
    """The type of a quota's value. maximum: None for DOUBLE, which may be fractional."""

    article_and_name: str
    maximum: float | None


_LONG, _INT, _DOUBLE = _KeyType("a LONG", 2.0**63), _KeyType("an INT", 2.0**31 - 1), _KeyType("a DOUBLE", None)
_OF_CLIENTS = {
    PRODUCER_BYTE_RATE: _LONG,
    CONSUMER_BYTE_RATE: _LONG,
    REQUEST_PERCENTAGE: _DOUBLE,
    CONTROLLER_MUTATION_RATE: _DOUBLE,
}
_OF_ADDRESSES = {CONNECTION_CREATION_RATE: _INT}


class MatchType(IntEnum):
    """How a component of a filter matches an entity."""

    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


class Alteration(NamedTuple):
    """The changes of one entity's quotas, by key; None removes one. addresses: of a host, None for another entity."""

    entity: QuotaEntity
    changes: Mapping[str, float | None]
    addresses: frozenset[str] | None = None


def changes_of(requested: RequestEntryData) -> dict[str, float | None]:
    """Return the changes of an entity's quotas by key; the last of several of a key counts."""
    return {each.key: None if each.remove else each.value for each in requested.ops}


def check_alteration(
    names: Mapping[str, str | None], changes: Mapping[str, float | None], hosts: Hosts | None
) -> Alteration:
    """Return the alteration of an entity.

    names: those of the entity by type. changes: of its quotas, by key; None removes one.
    hosts: see find_hosts; None to accept all names.
    Raises KafkaError INVALID_REQUEST, with Kafka's message.
    """
    keys = _checked_keys(names, hosts)
    for key, value in changes.items():
        if value is not None:
            _check_value(keys, key, value)
    addresses = None if hosts is None else hosts.get(names.get(IP) or "")
    return Alteration(entity_of(names), changes, addresses)


def duplicate_error(entity: QuotaEntity) -> KafkaError:
    """Return the error of an entity, or of a key, that a request names twice."""
    entries = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
    return _invalid(f"Ignoring duplicate entity ClientQuotaEntity(entries={{{entries}}})")


def has_duplicate_key(requested: RequestEntryData) -> bool:
    """Return whether the request names a key twice."""
    return len({each.key for each in requested.ops}) < len(requested.ops)


def _checked_keys(names: Mapping[str, str | None], hosts: Hosts | None) -> Mapping[str, _KeyType]:
    """Return the keys that the entity may have."""
    if not names:
        raise _invalid("Invalid empty client quota entity")
    for kind, name in names.items():
        if kind not in (USER, CLIENT_ID, IP):
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if IP not in names:
        return _OF_CLIENTS
    if len(names) > 1:
        # Without a blank, as in Kafka.
        raise _invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
    address = names[IP]
    if address is not None and not is_address(address) and hosts is not None and address not in hosts:
        raise _invalid(f"{address} is not a valid IP or resolvable host.")
    return _OF_ADDRESSES


def _check_value(keys: Mapping[str, _KeyType], key: str, value: float) -> None:
    key_type = keys.get(key)
    if key_type is None:
        raise _invalid(f"Invalid configuration key {key}")
    if value <= 0:
        raise _invalid(f"Quota {key} must be greater than 0")
    maximum = key_type.maximum
    if maximum is None or math.isnan(value):
        return
    if value > maximum:
        raise _invalid(f"Proposed value for {key} is too large for {key_type.article_and_name}.")
    if value % 1.0 > _FRACTION_MAX:
        raise _invalid(f"{key} cannot be a fractional value.")


def is_address(text: str) -> bool:
    """Return whether the text is an IP address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def addresses_of(host: str) -> frozenset[str]:
    """Return the IP addresses of a host; none if it is unknown. May wait for the network."""
    try:
        return frozenset(str(info[4][0]) for info in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
    # UnicodeError: the name is none of DNS, such as "a..b".
    except (OSError, UnicodeError):
        return frozenset()


async def find_hosts(names: Iterable[str | None]) -> Hosts:
    """Return the known hosts among the names. Between two lookups, the thread serves other requests."""
    hosts: dict[str, frozenset[str]] = {}
    for name in names:
        await step()
        if name and name not in hosts and not is_address(name):
            hosts[name] = await in_thread(partial(addresses_of, name))
    return {name: addresses for name, addresses in hosts.items() if addresses}


class QuotaFilter:
    """Which entities a DescribeClientQuotas is about."""

    def __init__(self, request: DescribeClientQuotasRequest) -> None:
        """Raise KafkaError, with Kafka's message, for components that cannot be."""
        self._exact: dict[str, str | None] = {}
        self._specified: set[str] = set()
        self._is_strict = request.strict
        for component in request.components:
            self._add(component.entity_type, component.match_type, component.match)
        named = self._exact.keys() | self._specified
        if IP in named and len(named) > 1:
            raise _invalid(
                "Invalid entity filter component combination. IP filter component should not be used with user or "
                "clientId filter component."
            )

    def _add(self, kind: str, match_type: int, match: str | None) -> None:
        if not kind:
            raise _invalid("Invalid empty entity type.")
        if kind in self._exact or kind in self._specified:
            raise _invalid(f"Entity type {kind} cannot appear more than once in the filter.")
        if kind not in (USER, CLIENT_ID, IP):
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION, f"Unsupported entity type {kind}")
        if match_type not in list(MatchType):
            raise _invalid(f"Unknown match type {match_type}")
        _check_match(MatchType(match_type), match)
        if match_type == MatchType.SPECIFIED:
            self._specified.add(kind)
        else:
            self._exact[kind] = match

    def matches(self, entity: QuotaEntity) -> bool:
        """Return whether the entity has what each component asks for; if strict, nothing else."""
        names = dict(entity)
        if self._is_strict and len(names) != len(self._exact) + len(self._specified):
            return False
        return self._specified <= names.keys() and all(
            kind in names and names[kind] == match for kind, match in self._exact.items()
        )


def _check_match(match_type: MatchType, match: str | None) -> None:
    if match_type is MatchType.EXACT:
        if match is None:
            raise _invalid("Request specified MATCH_TYPE_EXACT, but set match string to null.")
    elif match is not None:
        raise _invalid(f"Request specified MATCH_TYPE_{match_type.name}, but also specified a match string.")


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
