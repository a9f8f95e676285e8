"""The credentials for SCRAM that clients have created in the cluster, as a node has them."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from typing import TYPE_CHECKING

from ..security.delegation_token import hmac_of
from ..security.sasl.scram import ScramCredential, ScramHash, TokenCredential, credential_of_password

if TYPE_CHECKING:
    from ..requests.request_context import NodeServices

# One takes milliseconds to make, and some hundred bytes. Kafka makes and keeps them for all tokens.
MADE_MAX = 1000


class SaslCredentials:
    """The ClusterCredentials of a node. A node that is cut off from the controller has those of its last image."""

    def __init__(self, node: NodeServices) -> None:
        """node: the node that the clients are connected to."""
        self._node = node
        self._credential_of_token = lru_cache(MADE_MAX)(_credential_of_token)

    def find_credential(self, hash_: ScramHash, user: str) -> ScramCredential | None:
        """Return the credential that a client has set for a user, or None."""
        return self._node.image.find_scram_credential(hash_, user)

    def find_token(self, hash_: ScramHash, token_id: str) -> TokenCredential | None:
        """Return the credential of a delegation token, or None."""
        token = self._node.image.find_delegation_token(token_id)
        secret_key = self._node.config.delegation_token_secret_key
        if token is None or secret_key is None:
            return None
        return TokenCredential(
            self._credential_of_token(hash_, token_id, secret_key), token.owner.name, token.expiry_ms
        )


def _credential_of_token(hash_: ScramHash, token_id: str, secret_key: str) -> ScramCredential:
    return credential_of_password(hash_, b64encode(hmac_of(secret_key, token_id)).decode())
