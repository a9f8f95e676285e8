"""Which tokens a listener accepts, from Kafka's keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ....security.jaas import JAAS_CONFIG, OAUTHBEARER_MODULE, parse_jaas_options
from ....security.java_text import is_decimal, split_list
from ...config.config_types import ConfigError
from .. import oauth
from ..sasl.mechanisms import OAUTHBEARER
from .bearer_token import TokenValidator
from .unsecured_validator import UnsecuredValidator, parse_unsecured_options

if TYPE_CHECKING:
    from .signed_validator import ClaimRules

HANDLER_CLASS = "sasl.server.callback.handler.class"
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"
_UNSECURED_HANDLER = "OAuthBearerUnsecuredValidatorCallbackHandler"
_SIGNED_HANDLER = "OAuthBearerValidatorCallbackHandler"
_INSTALL = "pip install 'fauxka[security]'"


class Keys(Protocol):
    """The keys as one listener has them."""

    def text(self, key: str) -> str | None:
        """Return the value as text, None if the key is not set and has no default."""
        ...

    def of_mechanism(self, mechanism: str, key: str) -> str | None:
        """Return the value of a key of one mechanism, None if it is not set."""
        ...


class OauthKeys:
    """The keys of OAUTHBEARER: those with the mechanism in their prefix take precedence."""

    def __init__(self, keys: Keys) -> None:
        """keys: of the listener."""
        self._keys = keys

    def text(self, key: str) -> str | None:
        """Return the value as text, None if the key is not set and has no default."""
        own = self._keys.of_mechanism(OAUTHBEARER, key)
        return self._keys.text(key) if own is None else own

    def names(self, key: str) -> list[str]:
        """Return the value of a list."""
        return split_list(self.text(key) or "")

    def number(self, key: str) -> int:
        """Return the value of a number, at least 0. Raises ConfigError."""
        text = self.text(key) or ""
        if not is_decimal(text):
            raise ConfigError(f"{key}: expected a number from 0 on, got {text}")
        return int(text)


def token_validator_of(
    keys: Keys, with_own_tokens: Callable[[TokenValidator, ClaimRules], TokenValidator] | None
) -> TokenValidator:
    """Return the validator of a listener. Raises ConfigError.

    with_own_tokens: returns a validator that accepts the tokens of our own endpoint, too, where the keys name no other;
    None without such an endpoint.
    """
    own = OauthKeys(keys)
    handler = (own.text(HANDLER_CLASS) or "").rpartition(".")[2]
    if handler not in ("", _UNSECURED_HANDLER, _SIGNED_HANDLER):
        raise ConfigError(f"{HANDLER_CLASS}: {handler}; allowed: {_UNSECURED_HANDLER}, {_SIGNED_HANDLER}")
    url = own.text(JWKS_URL)
    if handler == _SIGNED_HANDLER and not url:
        raise ConfigError(f"{HANDLER_CLASS}: {handler} needs {JWKS_URL}")
    if url and handler != _UNSECURED_HANDLER:
        return _signed_validator(own, url)
    jaas = keys.of_mechanism(OAUTHBEARER, JAAS_CONFIG)
    options = parse_jaas_options(jaas, OAUTHBEARER_MODULE, JAAS_CONFIG) if jaas else {}
    unsecured = UnsecuredValidator(parse_unsecured_options(options, JAAS_CONFIG))
    if handler or with_own_tokens is None:
        return unsecured
    rules = _rules_of(own)
    # Tokens of our own endpoint have the audience that their client asked for.
    return with_own_tokens(unsecured, rules if rules.audiences else rules._replace(audiences=None))


def _signed_validator(keys: OauthKeys, url: str) -> TokenValidator:
    try:
        source, validator = oauth.key_source, oauth.signed_validator
    except ImportError as error:
        raise ConfigError(f"{JWKS_URL}: needs the extra security: {_INSTALL}") from error
    backoff = "sasl.oauthbearer.jwks.endpoint.retry.backoff"
    times = source.RefreshTimes(
        keys.number("sasl.oauthbearer.jwks.endpoint.refresh.ms"),
        keys.number(f"{backoff}.ms"),
        keys.number(f"{backoff}.max.ms"),
    )
    return validator.SignedValidator(source.open_key_source(url, times, JWKS_URL), _rules_of(keys))


def _rules_of(keys: OauthKeys) -> ClaimRules:
    return oauth.signed_validator.ClaimRules(
        frozenset(keys.names("sasl.oauthbearer.expected.audience")),
        keys.text("sasl.oauthbearer.expected.issuer"),
        keys.number("sasl.oauthbearer.clock.skew.seconds"),
        keys.text("sasl.oauthbearer.sub.claim.name") or "sub",
        keys.text("sasl.oauthbearer.scope.claim.name") or "scope",
    )
