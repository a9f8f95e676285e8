"""The certificates of a broker with TLS: list them, and present other ones.

Made of admin/methods/certificates.py by tools/async_methods.py: change that one.
"""

from __future__ import annotations

from ...broker.security.tls.listener_tls import CertificateKind
from ...faults.strict_json import convert
from ..methods.certificates import CertificateItems
from ..operations import certificate_operations
from ..operations.certificate_operations import CertificateChoice
from .base import AsyncMethods


class AsyncCertificates(AsyncMethods):
    """The certificates of listeners with TLS."""

    async def list(self) -> CertificateItems:
        """Return the certificate that each listener with TLS presents, in the order of nodes and listeners."""
        listed = await self._perform(certificate_operations.list_certificates)
        return listed.items

    async def present(
        self, kind: CertificateKind, *, listener: str | None = None, node: int | None = None
    ) -> CertificateItems:
        """Present another certificate in new handshakes, and return what the listeners present; connections stay open.

        kind: "new", "expired", "not_yet_valid", "wrong_host" or "unknown_authority"; "configured" for that of the
        start. listener: its name, None for all with a throw-away certificate. node: None for all.
        Raises InvalidValueError for a wrong value, CallError for an unknown listener or node, or without a throw-away
        certificate.
        """
        body = convert({"kind": kind, "listener": listener, "node": node}, CertificateChoice)
        presented = await self._perform(certificate_operations.present_certificate, body=body)
        return presented.items
