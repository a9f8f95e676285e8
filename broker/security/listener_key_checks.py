"""Refuses keys that begin with listener.name. and have no effect on any listener.

Rules:
- The name of the listener is in lower case. Kafka ignores a key with any other name, and the listener then
  demands less of its clients than the key says.
- A key must be one of the broker's keys, or a mechanism in lower case and one of the broker's keys.
- A listener without TLS cannot demand certificates, and one without SASL cannot demand a mechanism.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...security.jaas import JAAS_CONFIG
from ...security.security_protocol import SecurityProtocol
from ..config.config_keys import BROKER_KEYS, LISTENER_PREFIX, ConfigKey, find_similar_key
from ..config.config_types import ConfigError, UnknownConfigKey
from .listener_keys import CLIENT_AUTH

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
    meant = key.lower() if _find_key(key.lower()) is not None else find_similar_key(key)
    return f"; did you mean {prefix}{meant}?" if meant else ""
