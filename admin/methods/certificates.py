"""The certificates of a broker with TLS: list them, and present other ones."""

from __future__ import annotations

from ...broker.security.tls.listener_tls import CertificateKind
from ...faults.strict_json import convert
from ..operations import certificate_operations
from ..operations.certificate_operations import Certificate, CertificateChoice
from .base import Methods

# Within the class, `list` is the method.
CertificateItems = list[Certificate]


class Certificates(Methods):
    """The certificates of listeners with TLS."""

    def list(self) -> CertificateItems:
        """Return the certificate that each listener with TLS presents, in the order of nodes and listeners."""
        listed = self._perform(certificate_operations.list_certificates)
        return listed.items

    def present(
        self, kind: CertificateKind, *, listener: str | None = None, node: int | None = None
    ) -> CertificateItems:
        """Present another certificate in new handshakes, and return what the listeners present; connections stay open.

        kind: "new", "expired", "not_yet_valid", "wrong_host" or "unknown_authority"; "configured" for that of the
        start. listener: its name, None for all with a throw-away certificate. node: None for all.
        Raises InvalidValueError for a wrong value, CallError for an unknown listener or node, or without a throw-away
        certificate.
        """
        body = convert({"kind": kind, "listener": listener, "node": node}, CertificateChoice)
        presented = self._perform(certificate_operations.present_certificate, body=body)
        return presented.items
