"""Delegation tokens (KIP-48): what a token is, and its HMAC (Kafka: TokenInformation, DelegationTokenManager).

The HMAC of the token id with `delegation.token.secret.key` is the secret of a token: a client renews the token with it,
and logs in with it as the password. It is made whenever it is needed, and stored nowhere.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass

from .principal import Principal


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """A token.

    owner: the principal of a client with the token. requester: the principal that has created it. renewers: they may
    renew and expire it, and so may the owner. issue_ms, max_ms, expiry_ms: ms since the epoch. A renewal moves
    expiry_ms, at most to max_ms.
    """

    token_id: str
    owner: Principal
    requester: Principal
    renewers: tuple[Principal, ...]
    issue_ms: int
    max_ms: int
    expiry_ms: int

    def is_expired(self, now_ms: int) -> bool:
        """Return whether the token has expired: it cannot be renewed, and is removed at the next check."""
        return min(self.max_ms, self.expiry_ms) < now_ms

    def can_be_changed_by(self, principal: Principal) -> bool:
        """Return whether the principal may renew and expire the token."""
        return principal == self.owner or principal in self.renewers

    def concerns(self, principal: Principal) -> bool:
        """Return whether the principal may describe the token without an ACL."""
        return self.can_be_changed_by(principal) or principal == self.requester


def hmac_of(secret_key: str, token_id: str) -> bytes:
    """Return the HMAC of a token, 64 bytes. secret_key: delegation.token.secret.key."""
    return hmac.digest(secret_key.encode(), token_id.encode(), "sha512")
