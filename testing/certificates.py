"""The certificates of a broker with TLS: list them, and present other ones."""

from __future__ import annotations

from collections.abc import Sequence

from ..admin.operations import certificate_operations
from ..admin.operations.certificate_operations import Certificate, CertificateChoice, CertificateList
from ..broker.security.tls.listener_tls import CertificateKind
from ..faults.strict_json import convert
from .calls import ControlCall, RemoteCall


class Certificates:
    """The certificates of Broker and AsyncBroker."""

    def __init__(self, call: ControlCall) -> None:
        """call: runs a function on the broker's thread."""
        self._call = call

    def list(self) -> list[Certificate]:
        """Return the certificate that each listener with TLS presents, in the order of nodes and listeners."""
        return self._call(certificate_operations.list_certificates).items

    def present(
        self, kind: CertificateKind, *, listener: str | None = None, node: int | None = None
    ) -> Sequence[Certificate]:
        """Present another certificate in new handshakes, and return what the listeners present; connections stay open.

        kind: "new", "expired", "not_yet_valid", "wrong_host" or "unknown_authority"; "configured" for that of the
        start. listener: its name, None for all with a throw-away certificate. node: None for all.
        Raises RuleError for a wrong value, CallError for an unknown listener or node, or without a throw-away
        certificate.
        """
        body = _choice(kind, listener, node)
        return self._call(lambda control: certificate_operations.present_certificate(control, body)).items


class RemoteCertificates:
    """The certificates of RemoteBroker."""

    def __init__(self, call: RemoteCall) -> None:
        """call: sends a call to the broker."""
        self._call = call

    def list(self) -> list[Certificate]:
        """Return the certificate that each listener with TLS presents; as Certificates.list."""
        return convert(self._call("GET", certificate_operations.PATH), CertificateList).items

    def present(
        self, kind: CertificateKind, *, listener: str | None = None, node: int | None = None
    ) -> Sequence[Certificate]:
        """Present another certificate in new handshakes; as Certificates.present."""
        body = _choice(kind, listener, node)
        return convert(self._call("POST", certificate_operations.PATH, body), CertificateList).items


def _choice(kind: CertificateKind, listener: str | None, node: int | None) -> CertificateChoice:
    return convert({"kind": kind, "listener": listener, "node": node}, CertificateChoice)
