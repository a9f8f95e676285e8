"""Changes of the stores of a listener with TLS, by IncrementalAlterConfigs, and the certificate that clients get then.

python -m tests.golden.regenerate stores. FOLDER stands for the folder of the stores.
"""

from __future__ import annotations

import io
import re
import ssl
from pathlib import Path
from typing import TextIO

from fauxka.protocol.messages.api_versions import ApiVersionsRequest
from fauxka.protocol.messages.incremental_alter_configs import IncrementalAlterConfigsResponse

from ..wire.message_client import MessageClient
from ..wire.wire_connection import ConnectionClosedError, WireConnection, tls_without_checks
from .capture_configs import BROKER, DELETE, NEWEST, SET, Change, changing, describing
from .capture_recorder import Recorder
from .sasl_client import Addresses
from .store_brokers import CERTIFICATES, KEYSTORE, PASSWORD, TRUSTSTORE

LOCATION, TYPE, STORE_PASSWORD = f"{KEYSTORE}.location", f"{KEYSTORE}.type", f"{KEYSTORE}.password"
KEY, CHAIN = f"{KEYSTORE}.key", f"{KEYSTORE}.certificate.chain"
KEY_PASSWORD = "listener.name.ssl.ssl.key.password"
_ALTERNATIVE_NAME = re.compile(r"\[[^\[\]]*\]")
_ALTERNATIVE_NAMES = re.compile(r"SAN=\[((?:\[[^\[\]]*\](?:, )?)*)\]")


class _Stores:
    """One run of the capture."""

    def __init__(self, addresses: Addresses, folder: Path, output: TextIO) -> None:
        self.folder = folder
        self.recorder = Recorder(addresses["PLAINTEXT"], output)
        self._addresses = addresses
        self._names = {self._first_in(name): name for name in CERTIFICATES}

    def _first_in(self, name: str) -> bytes:
        text = (self.folder / f"{name}.pem").read_text()
        return ssl.PEM_cert_to_DER_cert(text[text.index(ssl.PEM_HEADER) : text.index(ssl.PEM_FOOTER)] + ssl.PEM_FOOTER)

    def file(self, name: str) -> str:
        return str(self.folder / name)

    def change(
        self, case: str, *changes: Change, name: str = "1", listener: str = "SSL", validate_only: bool = False
    ) -> None:
        """Record the change, and the certificate of a new connection after it."""
        response = self.recorder.case(case, 1, changing((BROKER, name, list(changes)), validate_only=validate_only))
        assert isinstance(response, IncrementalAlterConfigsResponse)
        if not response.responses[0].error_code:
            self.recorder.settle()
        self.recorder.outcome(f"{case}, a new connection", self.presented(listener))

    def describe(self, case: str, name: str = "1") -> None:
        keys = [LOCATION, TYPE, STORE_PASSWORD, KEY, CHAIN, KEY_PASSWORD, f"{TRUSTSTORE}.location"]
        self.recorder.case(case, NEWEST, describing((BROKER, name, keys)))

    def presented(self, listener: str = "SSL") -> str:
        """Return the name of the certificate that a new connection gets."""
        try:
            with WireConnection(self._addresses[listener]) as connection:
                certificate = connection.start_tls(tls_without_checks()).getpeercert(binary_form=True)
        except OSError as error:
            return f"{type(error).__name__}"
        assert certificate is not None, "a server presents a certificate"
        return self._names[certificate]


def capture(addresses: Addresses, folder: Path, output: TextIO) -> None:
    """Record every case."""
    lines = io.StringIO()
    stores = _Stores(addresses, folder, lines)
    with MessageClient(addresses["SSL"]) as old:
        old.wire.start_tls(tls_without_checks())
        _changes(stores)
        _changes_of_pem(stores)
        stores.recorder.outcome("the first connection, after all changes", _answered_on(old))
    stores.recorder.connection.close()
    output.write(_without_secrets(lines.getvalue(), folder))


def _answered_on(connection: MessageClient) -> str:
    try:
        connection.call(ApiVersionsRequest(), 0)
    except ConnectionClosedError:
        return "closed"
    return "answered"


def _changes(stores: _Stores) -> None:
    file = stores.file
    stores.recorder.outcome("a new connection", stores.presented())
    stores.describe("before any change")
    stores.change("only validated", (LOCATION, SET, file("second.p12")), validate_only=True)
    stores.describe("only validated, after it")
    stores.change("another file", (LOCATION, SET, file("second.p12")))
    stores.describe("another file, after it")
    stores.change("the same file again", (LOCATION, SET, file("second.p12")))
    (stores.folder / "second.p12").write_bytes((stores.folder / "third.p12").read_bytes())
    stores.recorder.outcome("new content, no request", stores.presented())
    stores.change("new content, the same file again", (LOCATION, SET, file("second.p12")))
    stores.change(
        "location, type and password",
        (LOCATION, SET, file("first.p12")),
        (TYPE, SET, "PKCS12"),
        (STORE_PASSWORD, SET, PASSWORD),
    )
    stores.describe("location, type and password, after it")
    _refused_files(stores)
    _scopes(stores)
    _changes_of_kind(stores)


def _refused_files(stores: _Stores) -> None:
    file = stores.file
    stores.change("a file that is not there", (LOCATION, SET, file("absent.p12")))
    stores.change("a file that is no store", (LOCATION, SET, file("text.p12")))
    stores.change("a folder", (LOCATION, SET, str(stores.folder)))
    stores.change("an empty location", (LOCATION, SET, ""))
    stores.change("a wrong password", (STORE_PASSWORD, SET, "wrong"))
    stores.change("a wrong password of the key", (KEY_PASSWORD, SET, "wrong"))
    stores.change("an unknown type", (TYPE, SET, "NOPE"))
    stores.change("PKCS12 as PEM", (TYPE, SET, "PEM"))
    stores.change("PEM as PKCS12", (LOCATION, SET, file("second.pem")))
    stores.change("another distinguished name", (LOCATION, SET, file("renamed.p12")))
    stores.change("another alternative name", (LOCATION, SET, file("moved.p12")))
    stores.change("one more alternative name", (LOCATION, SET, file("wider.p12")))
    stores.change("the alternative names are fewer again", (LOCATION, SET, file("first.p12")))
    stores.change("another authority", (LOCATION, SET, file("foreign.p12")))
    stores.describe("another authority, after it")


def _scopes(stores: _Stores) -> None:
    file = stores.file
    stores.change("for all brokers", (LOCATION, SET, file("second.p12")), name="")
    stores.change("password for all brokers", (STORE_PASSWORD, SET, PASSWORD), name="")
    stores.change(
        "password and location for all brokers", (LOCATION, SET, file("x")), (STORE_PASSWORD, SET, "x"), name=""
    )
    stores.change("without the prefix", ("ssl.keystore.location", SET, file("second.p12")))
    stores.change(
        "of a listener that is not there", ("listener.name.other.ssl.keystore.location", SET, file("absent.p12"))
    )
    stores.change(
        "of a listener without TLS", ("listener.name.plaintext.ssl.keystore.location", SET, file("absent.p12"))
    )
    stores.change("a key that is read-only", ("listener.name.ssl.ssl.allow.dn.changes", SET, "true"))
    stores.change("protocols", ("listener.name.ssl.ssl.enabled.protocols", SET, "TLSv1.2"))
    stores.change("listener name in upper case", ("listener.name.SSL.ssl.keystore.location", SET, file("second.p12")))


def _changes_of_kind(stores: _Stores) -> None:
    file = stores.file
    pem = (stores.folder / "second.pem").read_text()
    cut = pem.index("-----BEGIN CERTIFICATE-----")
    stores.change("PEM file without another type", (LOCATION, SET, file("first.pem")))
    stores.change("PEM file with a password", (LOCATION, SET, file("first.pem")), (TYPE, SET, "PEM"))
    stores.change(
        "PEM file",
        (LOCATION, SET, file("first.pem")),
        (TYPE, SET, "PEM"),
        (STORE_PASSWORD, DELETE, None),
        (KEY_PASSWORD, DELETE, None),
    )
    stores.change("PEM text with a location", (KEY, SET, pem[:cut]), (CHAIN, SET, pem[cut:]), (TYPE, SET, "PEM"))
    stores.change("a key without its chain", (KEY, SET, pem[:cut]), (LOCATION, DELETE, None), (TYPE, SET, "PEM"))
    stores.change("all deleted", *((key, DELETE, None) for key in (LOCATION, TYPE, STORE_PASSWORD, KEY_PASSWORD)))
    stores.describe("all deleted, after it")
    stores.change("trust: another file", (f"{TRUSTSTORE}.location", SET, file("others.pem")))
    stores.change("trust: a file that is not there", (f"{TRUSTSTORE}.location", SET, file("absent.pem")))
    stores.change("trust: an empty file", (f"{TRUSTSTORE}.location", SET, file("empty.pem")))
    stores.change("trust: PEM as PKCS12", (f"{TRUSTSTORE}.type", SET, "PKCS12"))
    stores.change("trust: deleted", (f"{TRUSTSTORE}.location", DELETE, None))


def _changes_of_pem(stores: _Stores) -> None:
    location = "listener.name.files.ssl.keystore.location"
    for case, name in {
        "another file": "second.pem",
        "a file that is not there": "absent.pem",
        "an empty file": "empty.pem",
        "no key": "trusted.pem",
        "another distinguished name": "renamed.pem",
        "one more alternative name": "wider.pem",
        "another alternative name": "moved.pem",
    }.items():
        stores.change(f"PEM: {case}", (location, SET, stores.file(name)), listener="FILES")
    trust = "listener.name.files.ssl.truststore"
    stores.change(
        "PEM: a first trust store",
        (f"{trust}.location", SET, stores.file("trusted.pem")),
        (f"{trust}.type", SET, "PEM"),
    )
    stores.change("PEM: deleted", (location, DELETE, None), listener="FILES")
    (stores.folder / "first.pem").write_bytes((stores.folder / "wider.pem").read_bytes())
    stores.change(
        "PEM: deleted, and the first file has what the last one had", (location, DELETE, None), listener="FILES"
    )
    location = "listener.name.free.ssl.keystore.location"
    stores.change("allowed: another distinguished name", (location, SET, stores.file("renamed.pem")), listener="FREE")
    stores.change("allowed: another alternative name", (location, SET, stores.file("moved.pem")), listener="FREE")
    stores.change("a key that is not one of stores", ("listener.name.files.connections.max.reauth.ms", SET, "x"))


def _with_sorted_names(match: re.Match[str]) -> str:
    return f"SAN=[{', '.join(sorted(_ALTERNATIVE_NAME.findall(match[1])))}]"


def _without_secrets(lines: str, folder: Path) -> str:
    """Return the lines with FOLDER for the folder, and KEY and CHAIN for what differs from run to run."""
    lines = lines.replace(str(folder), "FOLDER")
    # Their order is that of a hash set.
    lines = _ALTERNATIVE_NAMES.sub(_with_sorted_names, lines)
    pem = (folder / "second.pem").read_text()
    cut = pem.index("-----BEGIN CERTIFICATE-----")
    for name, text in (("CHAIN", pem[cut:]), ("KEY", pem[:cut])):
        lines = lines.replace(text.replace("\n", "\\n"), name)
    return lines
