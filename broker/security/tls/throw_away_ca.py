"""A certificate authority for one run or one folder, with the certificates of the broker and of a client, by trustme.

| file | content |
|---|---|
| `ca.pem` | the certificate of the authority, for clients to trust: `ssl.ca.location` of librdkafka |
| `truststore.p12` | the same for Java, password `changeit` |
| `server.pem` | certificate and private key of the broker |
| `client.pem` | certificate and private key of a client, for `ssl.client.auth` |
| `client.p12` | the same for Java, password `changeit` |
| `ca-key.pem` | the private key of the authority, which issues further certificates of the broker |

A folder that has these files already is used as it is, so that clients may keep what they trust. One without
`ca-key.pem` is used too, and issues none.
"""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal, assert_never

from ....security.key_store import PEM, Store
from ....storage.file_systems.own_folder import delete_own_folder
from ....storage.file_systems.path_problems import find_file_in_the_way
from ...config.config_types import ConfigError
from .. import tls

if TYPE_CHECKING:
    from trustme import CA

PASSWORD = "changeit"
CA_FILE = "ca.pem"
TRUST_STORE_FILE = "truststore.p12"
SERVER_FILE = "server.pem"
CLIENT_FILE = "client.pem"
CLIENT_STORE_FILE = "client.p12"
FILES = (CA_FILE, TRUST_STORE_FILE, SERVER_FILE, CLIENT_FILE, CLIENT_STORE_FILE)
AUTHORITY_KEY_FILE = "ca-key.pem"
_OWN_FILES = frozenset({*FILES, AUTHORITY_KEY_FILE})
CLIENT_NAME = "fauxka-client"
# Clients of other users, such as those in other containers, read what they trust.
_PUBLIC_FILES = (CA_FILE, TRUST_STORE_FILE)
_PUBLIC, _PRIVATE = 0o644, 0o600

IssuedKind = Literal["new", "expired", "not_yet_valid", "wrong_host", "unknown_authority"]
# No client connects to a name under this domain (RFC 2606).
WRONG_HOST = "wrong-host.invalid"
# More than the clock of any client differs from that of the broker.
_DAY = timedelta(days=1)


class NoAuthorityKeyError(Exception):
    """The folder has no private key of the authority. The message is one line for the user."""


def open_folder(folder: str | None, hosts: Sequence[str], owner: object) -> Path:
    """Return the folder with the files, which are written if it has none. Raises ConfigError.

    folder: None for a new one, which is deleted as temporary_folder says. hosts: as in ensure_files.
    """
    opened = Path(folder) if folder else temporary_folder(owner)
    ensure_files(opened, hosts)
    return opened


def ensure_files(folder: Path, hosts: Sequence[str]) -> None:
    """Write the files, unless the folder has them. hosts: names and addresses of the broker. Raises ConfigError."""
    problem = find_file_in_the_way(str(folder))
    if problem is not None:
        raise ConfigError(f"--tls-dir: {problem}")
    try:
        found = [name for name in FILES if (folder / name).exists()]
        if len(found) == len(FILES):
            return
        if found:
            raise ConfigError(f"--tls-dir {folder}: it has {', '.join(found)}, and not {_missing(found)}")
        folder.mkdir(parents=True, exist_ok=True)
        _write_files(folder, hosts)
    except OSError as error:
        raise ConfigError(f"--tls-dir {folder}: {error.strerror}") from error


def temporary_folder(owner: object) -> Path:
    """Return a new folder. With owner, or at the end of the process, it is deleted with its certificates."""
    folder = Path(tempfile.mkdtemp(prefix="fauxka-tls-"))
    weakref.finalize(owner, _delete, folder)
    return folder


def _delete(folder: Path) -> None:
    with suppress(OSError):
        delete_own_folder(folder, _OWN_FILES.__contains__)


def key_store_of(folder: Path) -> Store:
    """Return the broker's certificate."""
    return Store("ssl.keystore", PEM, str(folder / SERVER_FILE))


def trust_store_of(folder: Path) -> Store:
    """Return the authority, which has also signed the certificate of the client."""
    return Store("ssl.truststore", PEM, str(folder / CA_FILE))


def issue_server(folder: Path, hosts: Sequence[str], kind: IssuedKind) -> bytes:
    """Return a certificate of the broker with its new private key, as PEM.

    hosts: names and addresses of the broker. kind: "new" is a right one. The others have one defect each; the times of
    validity are those of the machine's clock. Raises NoAuthorityKeyError.
    """
    match kind:
        case "unknown_authority":
            issued = tls.certificate_authority.new_authority("unknown to fauxka").issue_cert(*hosts)
        case "new":
            issued = _read_authority(folder).issue_cert(*hosts)
        case "wrong_host":
            issued = _read_authority(folder).issue_cert(WRONG_HOST)
        case "expired" | "not_yet_valid":
            start = datetime.now(UTC) + (_DAY if kind == "not_yet_valid" else -2 * _DAY)
            issued = _read_authority(folder).issue_cert(*hosts, not_before=start, not_after=start + _DAY)
        case _:
            assert_never(kind)
    return issued.private_key_and_cert_chain_pem.bytes()


def _read_authority(folder: Path) -> CA:
    try:
        certificate, private_key = (folder / CA_FILE).read_bytes(), (folder / AUTHORITY_KEY_FILE).read_bytes()
        return tls.certificate_authority.read_authority(certificate, private_key)
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is no private key"
        raise NoAuthorityKeyError(
            f"no certificate can be issued with {folder / AUTHORITY_KEY_FILE}: {reason}"
        ) from error


def _missing(found: Sequence[str]) -> str:
    return ", ".join(name for name in FILES if name not in found)


def _write_files(folder: Path, hosts: Sequence[str]) -> None:
    try:
        authorities = tls.certificate_authority
    except ImportError as error:
        raise ConfigError(
            "a listener with TLS without ssl.keystore.location needs pip install 'fauxka[security]'"
        ) from error
    authority = authorities.new_authority("fauxka")
    server = authority.issue_cert(*hosts)
    client = authority.issue_cert(f"{CLIENT_NAME}.invalid", common_name=CLIENT_NAME)
    contents = {
        CA_FILE: authority.cert_pem.bytes(),
        TRUST_STORE_FILE: authorities.trust_store_of(authority, PASSWORD),
        SERVER_FILE: server.private_key_and_cert_chain_pem.bytes(),
        CLIENT_FILE: client.private_key_and_cert_chain_pem.bytes(),
        CLIENT_STORE_FILE: authorities.key_store_of(client, CLIENT_NAME, PASSWORD),
        AUTHORITY_KEY_FILE: authority.private_key_pem.bytes(),
    }
    for name, content in contents.items():
        mode = _PUBLIC if name in _PUBLIC_FILES else _PRIVATE
        # Fails at a file or link that is there: ca-key.pem may be that of another authority.
        with open(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(content)
