"""Operations on the certificates of listeners with TLS: list them, and have listeners present other ones."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ...broker.lifecycle.server import Server
from ...broker.security.tls.listener_tls import (
    CONFIGURED,
    CertificateKind,
    ListenerTls,
    PresentedCertificate,
    ThrowAway,
)
from ...broker.security.tls.throw_away_ca import NoAuthorityKeyError, issue_server
from ..control import Control
from ..errors import CallError, conflict
from ..operation import Operation
from .node_changes import NodeId, check_node

if TYPE_CHECKING:
    from cryptography.x509 import Certificate as X509Certificate

TAG = "security"
NO_TLS = "no listener has TLS: fauxka serve --listener SSL or SASL_SSL"


class Certificate(Struct, kw_only=True):
    """The certificate that a listener presents in new handshakes.

    kind: as of CertificateChoice. sha256: the fingerprint of the certificate, in hexadecimal.
    hosts: names and addresses for which it is valid. not_before_ms, not_after_ms: its validity by the machine's clock.
    """

    node: int
    listener: str
    kind: CertificateKind
    sha256: str
    hosts: list[str]
    not_before_ms: int
    not_after_ms: int


class CertificateList(Struct, kw_only=True):
    """Certificates in the order of nodes and listeners."""

    items: list[Certificate]


class CertificateChoice(Struct, kw_only=True, forbid_unknown_fields=True):
    """The certificate to present.

    kind: "configured" is that of the start or of a rotation by IncrementalAlterConfigs. The others have a new private
    key: "new" has no defect, "wrong_host" is for another host, "unknown_authority" is signed by an authority that no
    client trusts.
    listener: its name; null for all listeners with a throw-away certificate. node: null for all nodes.
    """

    kind: CertificateKind
    listener: str | None = None
    node: NodeId | None = None


class _Place(NamedTuple):
    """A listener with TLS of a node."""

    server: Server
    listener: str
    tls: ListenerTls

    @property
    def presented(self) -> PresentedCertificate:
        return self.server.socket_server.certificate_of(self.listener)


def list_certificates(control: Control) -> CertificateList:
    """List the certificates that the listeners with TLS present."""
    return CertificateList(items=[_info(place) for place in _all_places(control)])


def present_certificate(control: Control, body: CertificateChoice) -> CertificateList:
    """Have listeners with a throw-away certificate present another one, and return what they present.

    It is presented in new handshakes, which do not resume older sessions. Connections stay open. A reset of `faults`
    brings the configured certificates back.
    """
    places = _chosen_places(control, body)
    if body.kind == CONFIGURED:
        for place in places:
            place.server.socket_server.presented.pop(place.listener, None)
        return CertificateList(items=[_info(place) for place in places])
    throw_away = _throw_away_of(places[0])
    try:
        # The listeners of a cluster share one authority, and its certificates are for the hosts of all of them.
        pem = issue_server(throw_away.folder, throw_away.hosts, body.kind)
    except NoAuthorityKeyError as error:
        raise conflict(str(error), field="kind", value=body.kind) from error
    for place in places:
        sockets = place.server.socket_server
        sockets.presented[place.listener] = sockets.stores[place.listener].present(body.kind, pem)
    return CertificateList(items=[_info(place) for place in places])


def _all_places(control: Control) -> list[_Place]:
    return [
        _Place(server, name, tls) for server in control.server.servers for name, tls in server.tls_listeners.items()
    ]


def _chosen_places(control: Control, body: CertificateChoice) -> Sequence[_Place]:
    """Return the listeners of a choice. Raises CallError 404 and 409."""
    places = _all_places(control)
    if body.node is not None:
        node_id = check_node(control, body.node)
        places = [place for place in places if place.server.node.node_id == node_id]
    if body.listener is not None:
        places = [place for place in places if place.listener == body.listener]
        if not places:
            raise _unknown_listener(control, body.listener)
    if not places:
        raise conflict(NO_TLS, field="kind", value=body.kind)
    issued = [place for place in places if place.tls.throw_away is not None]
    if not issued or (body.listener is not None and len(issued) < len(places)):
        name = places[0].listener
        raise conflict(
            f"the listener {name} has a certificate of its own (ssl.keystore.*); only a throw-away one can be changed",
            field="listener",
            value=body.listener,
        )
    return issued


def _unknown_listener(control: Control, name: str) -> CallError:
    names = dict.fromkeys(place.listener for place in _all_places(control))
    message = f"there is no listener {name} with TLS"
    return CallError(
        404, message, field="listener", value=name, allowed=", ".join(names) or "none: no listener has TLS"
    )


def _throw_away_of(place: _Place) -> ThrowAway:
    assert place.tls.throw_away is not None, "only listeners with a throw-away certificate are chosen"
    return place.tls.throw_away


def _info(place: _Place) -> Certificate:
    try:
        from cryptography.x509 import load_pem_x509_certificate
    except ImportError as error:
        raise conflict("certificates are read with cryptography: pip install 'fauxka[security]'") from error
    presented = place.presented
    certificate = load_pem_x509_certificate(presented.pem.encode())
    return Certificate(
        node=place.server.node.node_id,
        listener=place.listener,
        kind=presented.kind,
        sha256=hashlib.sha256(ssl.PEM_cert_to_DER_cert(presented.pem)).hexdigest(),
        hosts=_hosts_of(certificate),
        not_before_ms=_ms(certificate.not_valid_before_utc),
        not_after_ms=_ms(certificate.not_valid_after_utc),
    )


def _hosts_of(certificate: X509Certificate) -> list[str]:
    from cryptography.x509 import ExtensionNotFound, GeneralName, SubjectAlternativeName

    try:
        names: list[GeneralName] = list(certificate.extensions.get_extension_for_class(SubjectAlternativeName).value)
    except ExtensionNotFound:
        return []
    return [str(name.value) for name in names]


def _ms(time: datetime) -> int:
    return int(time.timestamp() * 1000)


PATH = "/v1/certificates"

OPERATIONS = (
    Operation(method="GET", path=PATH, perform=list_certificates, tag=TAG, errors=(409,)),
    Operation(method="POST", path=PATH, perform=present_certificate, tag=TAG, errors=(404, 409)),
)
