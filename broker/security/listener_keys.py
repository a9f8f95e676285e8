"""The keys of Kafka as one listener has them, and the check of keys that have no effect on any listener.

A key with the prefix listener.name.NAME. (the name in lower case) takes precedence over the key without it. A key of a
mechanism has the prefix listener.name.NAME.MECHANISM. (both in lower case).

A key that begins with listener.name. is refused in these cases:
- The name is not that of a listener in lower case. Kafka ignores such a key, and the listener then demands less of its
  clients than the key says.
- The rest is neither one of the broker's keys, nor a mechanism in lower case and one of the broker's keys.
- The listener has no TLS and the key demands certificates, or it has no SASL and the key demands a mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...security.jaas import JAAS_CONFIG
from ...security.java_text import split_list, trim
from ...security.security_protocol import SecurityProtocol
from ..config.broker_config import BrokerConfig
from ..config.config_keys import BROKER_KEYS, LISTENER_PREFIX, NEWEST_KEYS, ConfigKey
from ..config.config_types import ConfigError, UnknownConfigKey

CLIENT_AUTH = "ssl.client.auth"
# A line for the log, with the name of the listener.
CLIENT_AUTH_IGNORED = (
    f"{CLIENT_AUTH} has no effect on listener %s, which has SASL: clients need no certificate there (KIP-684). "
    f"listener.name.<name>.{CLIENT_AUTH} demands one"
)


class ListenerKeys:
    """The keys as one listener has them."""

    def __init__(
        self, name: str, protocol: SecurityProtocol, config: BrokerConfig, prefixed: Mapping[str, str]
    ) -> None:
        """prefixed: the entries that begin with listener.name."""
        self.name = name
        self.protocol = protocol
        self._config = config
        self._prefixed = prefixed

    def with_entries(self, entries: Mapping[str, str]) -> ListenerKeys:
        """Return the keys with other values of some. entries: they begin with listener.name."""
        return ListenerKeys(self.name, self.protocol, self._config, {**self._prefixed, **entries})

    def text(self, key: str) -> str | None:
        """Return the value as text, None if the key is not set and has no default."""
        own = self._prefixed.get(f"{listener_prefix(self.name)}{key}")
        if own is not None:
            return trim(own)
        value = self._config.value_of(key)
        return ",".join(value) if isinstance(value, list) else None if value is None else str(value)

    @property
    def client_auth(self) -> str:
        """ssl.client.auth. Without the prefix the key has no effect on SASL_SSL (KIP-684)."""
        if self.ignores_client_auth:
            return "none"
        return self.text(CLIENT_AUTH) or "none"

    @property
    def ignores_client_auth(self) -> bool:
        """Whether ssl.client.auth is set without the prefix only, and the protocol is SASL_SSL."""
        is_own = f"{listener_prefix(self.name)}{CLIENT_AUTH}" in self._prefixed
        is_sasl_ssl = self.protocol is SecurityProtocol.SASL_SSL
        return is_sasl_ssl and not is_own and self._config.value_of(CLIENT_AUTH) != "none"

    def names(self, key: str) -> list[str]:
        """Return the value of a list."""
        return split_list(self.text(key) or "")

    def is_set(self, key: str) -> bool:
        """Return whether the key is set, for this listener or for all."""
        return f"{listener_prefix(self.name)}{key}" in self._prefixed or self._config.is_set(key)

    def of_mechanism(self, mechanism: str, key: str) -> str | None:
        """Return the value of a key of one mechanism, None if it is not set."""
        value = self._prefixed.get(f"{listener_prefix(self.name)}{mechanism.lower()}.{key}")
        return None if value is None else trim(value)


def listener_prefix(name: str) -> str:
    """Return what the keys of one listener begin with."""
    return f"{LISTENER_PREFIX}{name.lower()}."


# Kafka reads the keys of each of these, also those that no listener here offers.
_MECHANISMS = ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "gssapi")
_ENABLED_MECHANISMS = "sasl.enabled.mechanisms"


def check_listener_keys(
    entries: Mapping[str, str], protocols: Mapping[str, SecurityProtocol], others: Collection[str] = ()
) -> None:
    """Raise ConfigError for the first entry without an effect, or with a value that Kafka refuses.

    entries: their names begin with listener.name. protocols: of each listener by its name.
    others: names that may have keys, and that no listener has here, such as that of the controllers.
    """
    by_prefix = {f"{name.lower()}.": protocol for name, protocol in protocols.items()}
    unserved = tuple(f"{name.lower()}." for name in others)
    for name, text in entries.items():
        rest = name.removeprefix(LISTENER_PREFIX)
        prefix = max((each for each in by_prefix if rest.startswith(each)), key=len, default=None)
        if prefix is not None:
            _check_key(name, rest.removeprefix(prefix), text, by_prefix[prefix])
        elif not rest.startswith(unserved):
            raise ConfigError(_without_listener(name, rest, by_prefix))


def _without_listener(name: str, rest: str, prefixes: Collection[str]) -> str:
    for prefix in prefixes:
        if rest.lower().startswith(prefix):
            meant = f"{LISTENER_PREFIX}{prefix}{rest[len(prefix) :]}"
            return f"{name}: the name of a listener is in lower case in a key; did you mean {meant}?"
    names = ", ".join(prefix.removesuffix(".") for prefix in prefixes)
    return f"{name}: there is no listener of that name; the listeners are {names}"


def _check_key(name: str, key: str, text: str, protocol: SecurityProtocol) -> None:
    known = _find_key(key)
    if known is None:
        raise UnknownConfigKey(f"unknown configuration key {name}{_hint(name.removesuffix(key), key)}")
    try:
        known.parse(text)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error
    if known.name == CLIENT_AUTH and text != "none" and not protocol.has_tls:
        raise ConfigError(f"{name}: a listener with the protocol {protocol.value} demands no certificates")
    if known.name in (_ENABLED_MECHANISMS, JAAS_CONFIG) and not protocol.has_sasl:
        raise ConfigError(f"{name}: a listener with the protocol {protocol.value} has no mechanisms")


def _find_key(key: str) -> ConfigKey | None:
    mechanism, _, of_mechanism = key.partition(".")
    return BROKER_KEYS.get(of_mechanism if mechanism in _MECHANISMS else key)


def _hint(prefix: str, key: str) -> str:
    meant = key.lower() if _find_key(key.lower()) is not None else NEWEST_KEYS.find_similar_key(key)
    return f"; did you mean {prefix}{meant}?" if meant else ""
