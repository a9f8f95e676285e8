"""The security protocol and the users of a broker, and the configuration with which a client connects to it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from ..broker.config.config_types import ConfigError
from ..broker.security.listener_security import MECHANISMS
from ..broker.security.sasl.mechanisms import OAUTHBEARER, SUPPORTED
from ..broker.security.tls.throw_away_ca import CA_FILE
from ..security.security_protocol import SecurityProtocol
from .errors import BrokerStateError


class ClientSecurity:
    """What a client needs. users: passwords by name, at the start."""

    def __init__(self, protocol: str, users: Mapping[str, str] | None) -> None:
        """Check the arguments. They are those of Broker. Raises ConfigError."""
        if protocol not in SecurityProtocol.__members__:
            allowed = ", ".join(SecurityProtocol.__members__)
            raise ConfigError(f"security_protocol: got {protocol!r}; allowed: {allowed}")
        self.protocol = SecurityProtocol[protocol]
        self.users = _checked_users(users)
        if users is not None and self.protocol is SecurityProtocol.PLAINTEXT:
            raise ConfigError("users need a security_protocol: SASL_PLAINTEXT or SASL_SSL")
        if self.protocol.has_sasl and not self.users:
            raise ConfigError(f"security_protocol {protocol} needs users, such as users={{'alice': 'secret'}}")

    @property
    def config_defaults(self) -> dict[str, str]:
        """The keys of Kafka with another default: all mechanisms, of which Kafka leaves out OAUTHBEARER."""
        return {MECHANISMS: ",".join(SUPPORTED)} if self.protocol.has_sasl else {}

    def client_config(
        self,
        bootstrap_servers: str,
        tls_dir: Path | None,
        user: str | None,
        mechanism: str,
        passwords: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return the configuration of a client without the token endpoint; see Broker.client_config.

        tls_dir: the folder of the throw-away certificates, None for a broker without them. passwords: those of now,
        None for those of the start.
        Raises ConfigError, BrokerStateError.
        """
        config = {"bootstrap.servers": bootstrap_servers, "security.protocol": self.protocol.value}
        if self.protocol.has_tls:
            if tls_dir is None:
                raise BrokerStateError(
                    "the broker has a certificate of its own, and fauxka does not know what trusts it"
                )
            config["ssl.ca.location"] = str(tls_dir / CA_FILE)
        if not self.protocol.has_sasl:
            return config
        if mechanism not in SUPPORTED:
            raise ConfigError(f"mechanism: got {mechanism!r}; allowed: {', '.join(SUPPORTED)}")
        known = self.users if passwords is None else passwords
        name = next(iter(known), "") if user is None else user
        if name not in known:
            raise ConfigError(f"user: got {user!r}; allowed: {', '.join(known)}")
        config["sasl.mechanism"] = mechanism
        if mechanism != OAUTHBEARER:
            return {**config, "sasl.username": name, "sasl.password": known[name]}
        return {
            **config,
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": name,
            "sasl.oauthbearer.client.secret": known[name],
        }


def _checked_users(users: Mapping[str, str] | None) -> dict[str, str]:
    """Return the users. Raises ConfigError, without a password."""
    given = cast("object", users)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigError(f"users: expected a dict of names and passwords, got a {type(given).__name__}")
    checked: dict[str, str] = {}
    for name, password in cast("Mapping[object, object]", given).items():
        if not isinstance(name, str) or not isinstance(password, str) or not name or not password:
            raise ConfigError(f"users: expected names and passwords as texts that are not empty, at the user {name!r}")
        checked[name] = password
    return checked
