"""The ACLs, SCRAM credentials and delegation tokens of a cluster (Kafka: AclsImage and the like)."""

from __future__ import annotations

from ..security.acl.acls import Acls
from ..security.delegation_token import DelegationToken
from ..security.sasl.scram import ScramCredential, ScramHash


class SecurityImage:
    """What clients may do if there is an authorizer, and the credentials and tokens that they have created.

    credentials: by mechanism and user. tokens: by token id.
    """

    __slots__ = ("acls", "credentials", "tokens")

    def __init__(self) -> None:
        """Create it without ACLs, credentials and tokens."""
        self.acls = Acls()
        self.credentials: dict[tuple[ScramHash, str], ScramCredential] = {}
        self.tokens: dict[str, DelegationToken] = {}

    def __eq__(self, other: object) -> bool:
        """Return whether other has the same ACLs, credentials and tokens."""
        if not isinstance(other, SecurityImage):
            return NotImplemented
        return (
            set(self.acls) == set(other.acls) and self.credentials == other.credentials and self.tokens == other.tokens
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no ACL, no credential and no token."""
        return not self.acls and not self.credentials and not self.tokens

    def copy(self) -> SecurityImage:
        """Return the ACLs, credentials and tokens as they are now; later changes are not in it."""
        copied = SecurityImage()
        copied.acls = self.acls.copy()
        copied.credentials = dict(self.credentials)
        copied.tokens = dict(self.tokens)
        return copied
