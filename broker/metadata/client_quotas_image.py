"""The client quotas of a cluster (Kafka: image/ClientQuotasImage)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import itemgetter

USER, CLIENT_ID, IP = "user", "client-id", "ip"
PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"

# Pairs of a type and a name, in the order of the types; None is the default of the type.
QuotaEntity = tuple[tuple[str, str | None], ...]

_DEFAULT_USER = (USER, None)
_DEFAULT_CLIENT_ID = (CLIENT_ID, None)


def entity_of(names: Mapping[str, str | None]) -> QuotaEntity:
    """Return the entity with these names by type."""
    return tuple(sorted(names.items(), key=itemgetter(0)))


class ClientQuotasImage:
    """The quotas of each entity that has some, by key, and the addresses of the hosts among the entities."""

    __slots__ = ("_addresses", "_quotas")

    def __init__(self) -> None:
        """Create it without quotas."""
        self._quotas: dict[QuotaEntity, dict[str, float]] = {}
        # By the entity of a host. They are stored in no file, so they may be missing.
        self._addresses: dict[QuotaEntity, frozenset[str]] = {}

    def __iter__(self) -> Iterator[tuple[QuotaEntity, Mapping[str, float]]]:
        """Return the entities with their quotas by key."""
        return iter(list(self._quotas.items()))

    def __len__(self) -> int:
        """Return the number of entities."""
        return len(self._quotas)

    def __eq__(self, other: object) -> bool:
        """Return whether other has the same quotas."""
        if not isinstance(other, ClientQuotasImage):
            return NotImplemented
        return self._quotas == other._quotas

    def quotas_of(self, entity: QuotaEntity) -> Mapping[str, float]:
        """Return the quotas of an entity by key."""
        return self._quotas.get(entity, {})

    def find(self, entity: QuotaEntity, key: str) -> float | None:
        """Return a quota of an entity, or None."""
        quotas = self._quotas.get(entity)
        return None if quotas is None else quotas.get(key)

    def set(self, entity: QuotaEntity, key: str, value: float | None) -> None:
        """Set a quota of an entity; None removes it. Only the controller and recovery call this."""
        quotas = self._quotas.setdefault(entity, {})
        if value is None:
            quotas.pop(key, None)
        else:
            quotas[key] = value
        if not quotas:
            del self._quotas[entity]
            self._addresses.pop(entity, None)

    def find_addresses(self, entity: QuotaEntity) -> frozenset[str] | None:
        """Return the IP addresses of an entity of a host; None before they were looked up."""
        return self._addresses.get(entity)

    def set_addresses(self, entity: QuotaEntity, addresses: frozenset[str]) -> None:
        """Set the IP addresses of an entity of a host. Any thread may call it."""
        self._addresses[entity] = addresses

    def copy(self) -> ClientQuotasImage:
        """Return the quotas as they are now; later changes are not in it."""
        copied = ClientQuotasImage()
        copied._quotas = {entity: dict(quotas) for entity, quotas in self._quotas.items()}
        copied._addresses = dict(self._addresses)
        return copied

    def find_for_client(self, key: str, user: str, client_id: str) -> tuple[QuotaEntity, float] | None:
        """Return the quota that applies to a client, and the entity whose clients share it; None without one.

        The most specific quota applies; one of the user takes precedence over one of the client id.
        A client without a client id has "", and no entity of client ids.
        Source: ClientQuotaManager.DefaultQuotaCallback, Kafka 4.3.0.
        """
        of_user, of_client_id = (USER, user), (CLIENT_ID, client_id)
        both, user_only, client_only = (of_client_id, of_user), (of_user,), (of_client_id,)
        # The entity with the quota, and the one whose rate is measured.
        candidates = (
            (both, both),
            ((_DEFAULT_CLIENT_ID, of_user), both),
            (user_only, user_only),
            ((of_client_id, _DEFAULT_USER), both),
            ((_DEFAULT_CLIENT_ID, _DEFAULT_USER), both),
            ((_DEFAULT_USER,), user_only),
            (client_only, client_only),
            ((_DEFAULT_CLIENT_ID,), client_only),
        )
        for entity, measured in candidates:
            limit = self.find(entity, key)
            if limit is not None:
                if client_id or measured is user_only:
                    return measured, limit
                return self._without_client_id(key, user)
        return None

    def _without_client_id(self, key: str, user: str) -> tuple[QuotaEntity, float] | None:
        """Return the quota of a client without a client id, for which one of client ids would take precedence."""
        user_only: QuotaEntity = ((USER, user),)
        for entity in (user_only, (_DEFAULT_USER,)):
            limit = self.find(entity, key)
            if limit is not None:
                return user_only, limit
        return None
