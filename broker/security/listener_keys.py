"""The keys of Kafka as one listener has them.

A key with the prefix listener.name.NAME. (the name in lower case) takes precedence over the key without it. A key of a
mechanism has the prefix listener.name.NAME.MECHANISM. (both in lower case).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...security.java_text import split_list, trim
from ...security.security_protocol import SecurityProtocol
from ..config.broker_config import BrokerConfig
from ..config.config_keys import LISTENER_PREFIX

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
