"""Measures what clients use of their quotas, and returns their throttle times (Kafka: ClientQuotaManager).

Rules:
- The quotas are those of the image. What is measured stays when a quota changes, so that a new one applies at once.
- Clients share a rate as they share the quota: those of a user, of a client id, or of a user and a client id.
- Only clients with a quota are measured.
- The addresses of a host are looked up when its quota is set. Those of a quota from the data folder are looked up in a
  thread, and the quota applies from then on: no client waits for a name server.
- Times are those of the cluster's clock.
Source: ClientQuotaManager, ClientRequestQuotaManager, ControllerMutationQuotaManager, ConnectionQuotas, Kafka 4.3.0;
tests/golden/quotas-4.3.0.jsonl.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from hashlib import sha256
from ipaddress import ip_address
from typing import TYPE_CHECKING, TypeVar

from ...protocol.shortened_text import TEXT_CHARACTERS_MAX
from ..metadata.client_quota_control import addresses_of, is_address
from ..metadata.client_quotas_image import (
    CONNECTION_CREATION_RATE,
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    IP,
    REQUEST_PERCENTAGE,
    QuotaEntity,
)
from ..runtime.quota_rates import SampledRate, TokenBucket, Window

if TYPE_CHECKING:
    from ..config.broker_config import BrokerConfig
    from ..metadata.client_quotas_image import ClientQuotasImage
    from ..runtime.clock import AdjustableClock

# Client ids may be any: the measures that were not used for longest are dropped. Kafka keeps each for an hour.
MEASURES_MAX = 10_000
# A percentage of one second, in ns.
_NS_PER_PERCENT = 10_000_000
_MS_PER_SECOND = 1000

Key = TypeVar("Key")

# The user, and the client id, "" for none.
QuotaClient = tuple[str, str]
# By the entity whose clients share it.
Rates = dict[tuple[str, QuotaEntity], SampledRate]
Buckets = dict[QuotaEntity, TokenBucket]


class ClientQuotas:
    """The quotas of the clients of one node, and the rates of these clients."""

    def __init__(
        self,
        image: Callable[[], ClientQuotasImage],
        clock: AdjustableClock,
        config: BrokerConfig,
        buckets: Buckets,
    ) -> None:
        """image: returns the quotas that the node applies. buckets: of mutations, which the nodes share."""
        self._image = image
        self._clock = clock
        self._window = Window(config.quota_window_num, config.quota_window_size_seconds * _MS_PER_SECOND)
        self._bucket_window = Window(
            config.controller_quota_window_num, config.controller_quota_window_size_seconds * _MS_PER_SECOND
        )
        self._rates: Rates = {}
        self._buckets = buckets
        self._limit_of_address: dict[str, float] = {}
        self._default_limit: float | None = None
        self._is_looking_up = False
        # Whether addresses have been found that _limit_of_address does not have.
        self._has_found_addresses = False
        self.quotas_changed()

    def quotas_changed(self) -> None:
        """Apply the quotas of addresses."""
        self._limit_of_address = {}
        self._default_limit = None
        unknown: list[QuotaEntity] = []
        image = self._image()
        for entity, quotas in image:
            names = dict(entity)
            if IP not in names or CONNECTION_CREATION_RATE not in quotas:
                continue
            host, limit = names[IP], quotas[CONNECTION_CREATION_RATE]
            if host is None:
                self._default_limit = limit
                continue
            addresses = [host] if is_address(host) else image.find_addresses(entity)
            if addresses is None:
                unknown.append(entity)
            else:
                self._limit_of_address.update({_normal(address): limit for address in addresses})
        if unknown and not self._is_looking_up:
            self._is_looking_up = True
            threading.Thread(target=self._look_up, args=(image, unknown), name="quota-hosts", daemon=True).start()

    def _look_up(self, image: ClientQuotasImage, entities: Iterable[QuotaEntity]) -> None:
        """Look up the addresses of hosts, in a thread."""
        for entity in entities:
            image.set_addresses(entity, addresses_of(dict(entity)[IP] or ""))
        self._is_looking_up = False
        self._has_found_addresses = True

    # -- bytes

    def has_quota(self, key: str, client: QuotaClient) -> bool:
        """Return whether a quota applies to the client."""
        return self._image().find_for_client(key, *client) is not None

    def record(self, key: str, client: QuotaClient, value: float) -> int:
        """Record a value, and return for how many ms the client is throttled."""
        found = self._image().find_for_client(key, *client)
        if found is None:
            return 0
        entity, limit = found
        now_ms = self._clock.steady_ms()
        rate = self._rate_of(key, entity, now_ms)
        rate.record(value, now_ms)
        return rate.throttle_time_ms(limit, now_ms)

    def take_back(self, key: str, client: QuotaClient, value: float) -> None:
        """Take back a recorded value."""
        found = self._image().find_for_client(key, *client)
        if found is not None:
            now_ms = self._clock.steady_ms()
            self._rate_of(key, found[0], now_ms).record(-value, now_ms)

    def fetch_bytes_max(self, client: QuotaClient, maximum: int) -> int:
        """Return the most bytes that a fetch may return: one with more would be throttled each time."""
        found = self._image().find_for_client(CONSUMER_BYTE_RATE, *client)
        if found is None:
            return maximum
        window_seconds = (self._window.samples - 1) * self._window.sample_ms // _MS_PER_SECOND
        return int(min(maximum, found[1] * window_seconds))

    # -- request time

    def record_request_time(self, client: QuotaClient, spent_ns: int) -> int:
        """Record the time that a request has taken, and return for how many ms the client is throttled."""
        throttle_ms = self.record(REQUEST_PERCENTAGE, client, spent_ns / _NS_PER_PERCENT)
        return min(throttle_ms, self._window.sample_ms)

    # -- mutations of the controller

    def take_mutations(self, client: QuotaClient, count: int, *, is_strict: bool) -> int:
        """Take tokens for partitions that a request creates or deletes, and return for how long none are left, in ms.

        is_strict: takes nothing if none are left before, and returns 0 otherwise.
        """
        found = self._image().find_for_client(CONTROLLER_MUTATION_RATE, *client)
        if found is None:
            return 0
        entity, limit = found
        entity = _key_of(entity)
        now_ms = self._clock.steady_ms()
        bucket = self._buckets.get(entity)
        if bucket is None:
            _make_room(self._buckets)
            bucket = self._buckets[entity] = TokenBucket(self._bucket_window, now_ms)
        if is_strict and (throttle_ms := bucket.throttle_time_ms(limit, now_ms)):
            return throttle_ms
        bucket.take(count, limit, now_ms)
        return 0 if is_strict else bucket.throttle_time_ms(limit, now_ms)

    # -- connections

    def record_connection(self, address: str) -> int:
        """Record a new connection from an IP address, and return in how many ms it is closed; 0 if it is accepted."""
        if self._has_found_addresses:
            self._has_found_addresses = False
            self.quotas_changed()
        address = _normal(address)
        limit = self._limit_of_address.get(address, self._default_limit)
        if limit is None:
            return 0
        now_ms = self._clock.steady_ms()
        rate = self._rate_of(CONNECTION_CREATION_RATE, ((IP, address),), now_ms)
        rate.record(1, now_ms)
        throttle_ms = rate.throttle_time_ms(limit, now_ms)
        if throttle_ms:
            rate.record(-1, now_ms)
        return min(throttle_ms, self._window.sample_ms)

    def _rate_of(self, key: str, entity: QuotaEntity, now_ms: int) -> SampledRate:
        entity = _key_of(entity)
        rate = self._rates.get((key, entity))
        if rate is None:
            _make_room(self._rates)
            rate = self._rates[key, entity] = SampledRate(self._window, now_ms)
        return rate


def _key_of(entity: QuotaEntity) -> QuotaEntity:
    """Return the entity with the digest of each name that is too long to be kept for 10,000 clients."""
    if all(name is None or len(name) <= TEXT_CHARACTERS_MAX for _, name in entity):
        return entity
    return tuple(
        (kind, name if name is None or len(name) <= TEXT_CHARACTERS_MAX else sha256(name.encode()).hexdigest())
        for kind, name in entity
    )


def _make_room(measures: dict[Key, SampledRate] | dict[Key, TokenBucket]) -> None:
    """Drop the half of the measures that was not used for longest, if there are too many."""
    if len(measures) < MEASURES_MAX:
        return
    oldest = sorted(measures, key=lambda key: measures[key].last_used_ms)
    for key in oldest[: MEASURES_MAX // 2]:
        del measures[key]


def _normal(address: str) -> str:
    try:
        return str(ip_address(address))
    except ValueError:
        return address
