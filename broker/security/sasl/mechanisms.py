"""The SASL mechanisms that a listener offers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import oauth, sasl
from ..users import Users
from .exchange import Exchange
from .plain import PlainExchange
from .scram import SCRAM_HASHES, ClusterCredentials, ScramCredential, ScramExchange, ScramHash, TokenCredential

if TYPE_CHECKING:
    from ..oauth.bearer_token import TokenValidator

PLAIN = "PLAIN"
OAUTHBEARER = "OAUTHBEARER"
# In the order of ScramMechanism.
ENABLED_BY_DEFAULT = (PLAIN, *SCRAM_HASHES)
SUPPORTED = (*ENABLED_BY_DEFAULT, OAUTHBEARER)
# Kafka's responses have the order of a HashMap, whatever the order of the configured list.
_ORDER_IN_RESPONSES = (PLAIN, ScramHash.SHA_512.mechanism, ScramHash.SHA_256.mechanism, OAUTHBEARER)


class Mechanisms:
    """The enabled mechanisms of a listener.

    names: in the order of the response to SaslHandshake. reauth_ms: connections.max.reauth.ms by mechanism, 0 for none.
    """

    def __init__(
        self,
        names: Sequence[str],
        users: Users,
        reauth_ms: Mapping[str, int],
        token_validator: TokenValidator | None = None,
    ) -> None:
        """users: those of the listener. token_validator: of OAUTHBEARER; None without it."""
        self.names = sorted(names, key=_ORDER_IN_RESPONSES.index)
        self.reauth_ms = dict(reauth_ms)
        self._users = users
        self._token_validator = token_validator

    def prepare(self) -> None:
        """Get what the first client needs, before the listener is open. May wait for the network."""
        if self._token_validator is not None:
            self._token_validator.prepare()

    def start(self, name: str, credentials: ClusterCredentials, now_ms: Callable[[], int]) -> Exchange:
        """Return a new exchange of an enabled mechanism.

        credentials: have precedence over the users of the listener. now_ms: the time by which bearer tokens expire.
        """
        hash_ = SCRAM_HASHES.get(name)
        if hash_ is not None:

            def find_credential(user: str) -> ScramCredential | None:
                return credentials.find_credential(hash_, user) or self._users.find_scram_credential(hash_, user)

            def find_token(token_id: str) -> TokenCredential | None:
                return credentials.find_token(hash_, token_id)

            return ScramExchange(hash_, find_credential, find_token)
        if self._token_validator is not None and name == OAUTHBEARER:
            return sasl.oauthbearer.OauthBearerExchange(self._token_validator, now_ms)
        assert name == PLAIN, f"{name} is enabled, and has no exchange"
        return PlainExchange(self._users.find_password)

    def start_rejecting(self, name: str) -> Exchange:
        """Return a new exchange of a mechanism that rejects every client."""
        validator: TokenValidator | None = None
        if self._token_validator is not None:
            validator = oauth.bearer_token.RejectingValidator(self._token_validator)
        return Mechanisms([name], Users({}), {}, validator).start(name, _NoCredentials(), lambda: 0)


class _NoCredentials:
    """ClusterCredentials without any."""

    def find_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        return None

    def find_token(self, hash_: ScramHash, token_id: str) -> TokenCredential | None:
        return None
