"""The SASL mechanisms that a listener offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..users import Users
from .exchange import Exchange
from .plain import PlainExchange
from .scram import SCRAM_HASHES, FindScramCredential, ScramCredential, ScramExchange, ScramHash

PLAIN = "PLAIN"
GSSAPI = "GSSAPI"
# In the order of ScramMechanism.
SUPPORTED = (PLAIN, *SCRAM_HASHES)
# Kafka's responses have the order of a HashMap, whatever the order of the configured list.
_ORDER_IN_RESPONSES = (PLAIN, ScramHash.SHA_512.mechanism, ScramHash.SHA_256.mechanism)


class Mechanisms:
    """The enabled mechanisms of a listener.

    names: in the order of the response to SaslHandshake. reauth_ms: connections.max.reauth.ms by mechanism, 0 for none.
    """

    def __init__(self, names: Sequence[str], users: Users, reauth_ms: Mapping[str, int]) -> None:
        """users: those of the listener."""
        self.names = sorted(names, key=_ORDER_IN_RESPONSES.index)
        self.reauth_ms = dict(reauth_ms)
        self._users = users

    def start(self, name: str, find_set: FindScramCredential) -> Exchange:
        """Return a new exchange of an enabled mechanism. find_set: has precedence over the users of the listener."""
        hash_ = SCRAM_HASHES.get(name)
        if hash_ is not None:

            def find_credential(user: str) -> ScramCredential | None:
                return find_set(hash_, user) or self._users.find_scram_credential(hash_, user)

            return ScramExchange(hash_, find_credential)
        assert name == PLAIN, f"{name} is enabled, and has no exchange"
        return PlainExchange(self._users.find_password)
