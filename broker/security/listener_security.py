"""What each listener demands of its clients, from its keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ...security.jaas import JAAS_CONFIG, parse_jaas_users
from ...security.security_protocol import SecurityProtocol
from ..config.config_types import ConfigError, ConfigType, parse_integer
from . import oauth
from .listener_keys import ListenerKeys
from .sasl.mechanisms import ENABLED_BY_DEFAULT, OAUTHBEARER, PLAIN, SUPPORTED, Mechanisms
from .users import Users

if TYPE_CHECKING:
    from .oauth.bearer_token import TokenValidator
    from .oauth.signed_validator import ClaimRules
    from .oauth.token_issuer import TokenIssuer
    from .tls.listener_tls import ListenerTls

REAUTH_MS = "connections.max.reauth.ms"
MECHANISMS = "sasl.enabled.mechanisms"


@dataclass(frozen=True, slots=True)
class ListenerSecurity:
    """tls: None without TLS. mechanisms: None without SASL."""

    tls: ListenerTls | None
    mechanisms: Mechanisms | None

    @property
    def protocol(self) -> SecurityProtocol:
        """The security protocol."""
        if self.mechanisms is None:
            return SecurityProtocol.PLAINTEXT if self.tls is None else SecurityProtocol.SSL
        return SecurityProtocol.SASL_PLAINTEXT if self.tls is None else SecurityProtocol.SASL_SSL


class Accounts(NamedTuple):
    """Who may authenticate: the users of the command line, and what issues tokens to them, None for nothing."""

    users: Users
    token_issuer: TokenIssuer | None = None


def security_of(
    protocol: SecurityProtocol, keys: ListenerKeys, accounts: Accounts, make_tls: Callable[[ListenerKeys], ListenerTls]
) -> ListenerSecurity:
    """Return the security of a listener. make_tls: loads its certificate. Raises ConfigError."""
    return ListenerSecurity(
        make_tls(keys) if protocol.has_tls else None,
        mechanisms_of(keys, accounts) if protocol.has_sasl else None,
    )


def mechanisms_of(keys: ListenerKeys, accounts: Accounts) -> Mechanisms:
    """Return the enabled mechanisms; those with passwords if the key is not set. Raises ConfigError."""
    names = keys.names(MECHANISMS) if keys.is_set(MECHANISMS) else list(ENABLED_BY_DEFAULT)
    for name in names:
        if name not in SUPPORTED:
            raise ConfigError(f"{MECHANISMS}: got {name}; allowed: {', '.join(SUPPORTED)}")
    jaas = keys.of_mechanism(PLAIN, JAAS_CONFIG)
    own = parse_jaas_users(jaas, f"listener.name.{keys.name.lower()}.plain.{JAAS_CONFIG}") if jaas else {}
    reauth_ms = {name: _reauth_ms(keys, name) for name in names}
    validator = _token_validator_of(keys, accounts.token_issuer) if OAUTHBEARER in names else None
    return Mechanisms(names, accounts.users.with_passwords(own), reauth_ms, validator)


def _token_validator_of(keys: ListenerKeys, issuer: TokenIssuer | None) -> TokenValidator:
    def with_own_tokens(other: TokenValidator, rules: ClaimRules) -> TokenValidator:
        assert issuer is not None, "without an issuer there are no own tokens"
        return oauth.token_issuer.OwnTokenValidator(issuer, rules, other)

    can_issue = issuer is not None and oauth.token_issuer.can_issue()
    return oauth.oauth_config.token_validator_of(keys, with_own_tokens if can_issue else None)


def _reauth_ms(keys: ListenerKeys, mechanism: str) -> int:
    text = keys.of_mechanism(mechanism, REAUTH_MS) or keys.text(REAUTH_MS) or "0"
    try:
        return max(0, parse_integer(REAUTH_MS, ConfigType.LONG, text))
    except ConfigError as error:
        raise ConfigError(f"{REAUTH_MS} of {mechanism}: expected a number of ms, got {text}") from error
