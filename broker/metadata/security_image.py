"""The ACLs and the SCRAM credentials of a cluster (Kafka: image/AclsImage, image/ScramImage)."""

from __future__ import annotations

from ..security.acl.acls import Acls
from ..security.sasl.scram import ScramCredential, ScramHash


class SecurityImage:
    """What clients may do if there is an authorizer, and the credentials that they have set.

    credentials: by mechanism and user.
    """

    __slots__ = ("acls", "credentials")

    def __init__(self) -> None:
        """Create it without ACLs and credentials."""
        self.acls = Acls()
        self.credentials: dict[tuple[ScramHash, str], ScramCredential] = {}

    def __eq__(self, other: object) -> bool:
        """Return whether other has the same ACLs and credentials."""
        if not isinstance(other, SecurityImage):
            return NotImplemented
        return set(self.acls) == set(other.acls) and self.credentials == other.credentials

    @property
    def is_empty(self) -> bool:
        """Whether there is neither an ACL nor a credential."""
        return not self.acls and not self.credentials

    def copy(self) -> SecurityImage:
        """Return the ACLs and credentials as they are now; later changes are not in it."""
        copied = SecurityImage()
        copied.acls = self.acls.copy()
        copied.credentials = dict(self.credentials)
        return copied
