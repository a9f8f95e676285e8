"""Key stores and trust stores that cannot be used: one line with the key, the file and the reason."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.tls.tls_context import TlsSettings, new_context
from fauxka.security.key_store import PEM, PKCS12, Store

from ...serving_process import run, serving

PASSWORD = "changeit"
AUTHORITY = trustme.CA()
BROKER = AUTHORITY.issue_cert("localhost")
CERTIFICATE = BROKER.cert_chain_pems[0].bytes()
KEY = BROKER.private_key_pem.bytes()
OTHER_KEY = AUTHORITY.issue_cert("localhost").private_key_pem.bytes()
NOT_BASE64 = CERTIFICATE.replace(b"MII", b"\x00\x00\x00", 1)


def private_key() -> EllipticCurvePrivateKey:
    key = load_pem_private_key(KEY, None)
    assert isinstance(key, EllipticCurvePrivateKey)
    return key


def encrypted_key() -> bytes:
    return private_key().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"of-the-key"))


def pkcs12_store(*, has_key: bool = True, has_certificate: bool = True) -> bytes:
    certificate = load_pem_x509_certificate(CERTIFICATE) if has_certificate else None
    return pkcs12.serialize_key_and_certificates(
        b"broker", private_key() if has_key else None, certificate, None, BestAvailableEncryption(PASSWORD.encode())
    )


class Bad(NamedTuple):
    """A store as configured, and the reason after its key and its file."""

    content: bytes
    type: str
    reason: str
    password: str | None = None
    key_password: str | None = None


BAD_KEY_STORES = {
    "empty": Bad(b"", "JKS", "it is no PKCS12 store"),
    "random bytes": Bad(b"\x00\x01\x02" * 100, PKCS12, "it is no PKCS12 store"),
    "other DER": Bad(b"0\x03\x02\x01\x01", PKCS12, "it is no PKCS12 store, or ssl.keystore.password is wrong", "x"),
    "wrong password": Bad(pkcs12_store(), PKCS12, "it is no PKCS12 store, or ssl.keystore.password is wrong", "wrong"),
    "no password": Bad(pkcs12_store(), PKCS12, "it needs ssl.keystore.password"),
    "PKCS12 without a key": Bad(pkcs12_store(has_key=False), PKCS12, "it has no private key", PASSWORD),
    "PKCS12 without a certificate": Bad(pkcs12_store(has_certificate=False), PKCS12, "it has no certificate", PASSWORD),
    "JKS": Bad(b"\xfe\xed\xfe\xed\0\0\0\2", "JKS", "it is a JKS store, which cannot be read; keytool -importkeystore"),
    "JCEKS": Bad(b"\xce\xce\xce\xce\0\0\0\2", "JKS", "it is a JCEKS store, which cannot be read; keytool"),
    "PEM of another type": Bad(CERTIFICATE + KEY, "JKS", "it is PEM; ssl.keystore.type=PEM reads it, and it is JKS"),
    "PKCS12 as PEM": Bad(pkcs12_store(), PEM, "it has no certificate"),
    "empty PEM": Bad(b"", PEM, "it has no certificate"),
    "PEM without a key": Bad(CERTIFICATE, PEM, "it has no private key"),
    "PEM without a certificate": Bad(KEY, PEM, "it has no certificate"),
    "key of another certificate": Bad(CERTIFICATE + OTHER_KEY, PEM, "its private key is not that of its certificate"),
    "encrypted key": Bad(CERTIFICATE + encrypted_key(), PEM, "its private key needs ssl.key.password"),
    "wrong key password": Bad(CERTIFICATE + encrypted_key(), PEM, "ssl.key.password is wrong", None, "hunter2"),
    "damaged certificate": Bad(NOT_BASE64 + KEY, PEM, "its certificate and its private key cannot be used: "),
}
BAD_TRUST_STORES = {
    "empty": Bad(b"", "JKS", "it is no PKCS12 store"),
    "wrong password": Bad(pkcs12_store(), PKCS12, "it is no PKCS12 store, or ssl.truststore.password is wrong", "x"),
    "JKS": Bad(b"\xfe\xed\xfe\xed\0\0\0\2", "JKS", "it is a JKS store, which cannot be read"),
    "empty PEM": Bad(b"", PEM, "it has no certificate"),
    "key only": Bad(KEY, PEM, "it has no certificate"),
    "damaged certificate": Bad(NOT_BASE64, PEM, "its certificates cannot be read: "),
}


def refusal_of(make: Callable[[], object]) -> str:
    with pytest.raises(ConfigError) as refused:
        make()
    text = str(refused.value)
    assert "\n" not in text
    assert "hunter2" not in text
    return text


def store_in(folder: Path, bad: Bad, name: str) -> Store:
    path = folder / "store"
    path.write_bytes(bad.content)
    return Store(name, bad.type, str(path), password=bad.password, key_password=bad.key_password)


@pytest.mark.parametrize("bad", BAD_KEY_STORES.values(), ids=BAD_KEY_STORES)
def test_bad_key_store_is_refused_with_its_key_its_file_and_the_reason(tmp_path: Path, bad: Bad) -> None:
    store = store_in(tmp_path, bad, "ssl.keystore")

    text = refusal_of(lambda: new_context(TlsSettings(store)))

    assert text.startswith(f"ssl.keystore.location: {tmp_path / 'store'}: {bad.reason}")


@pytest.mark.parametrize("bad", BAD_TRUST_STORES.values(), ids=BAD_TRUST_STORES)
def test_bad_trust_store_is_refused_with_its_key_its_file_and_the_reason(tmp_path: Path, bad: Bad) -> None:
    own = Store("ssl.keystore", PEM, pem=(CERTIFICATE + KEY).decode())
    store = store_in(tmp_path, bad, "ssl.truststore")

    text = refusal_of(lambda: new_context(TlsSettings(own, store)))

    assert text.startswith(f"ssl.truststore.location: {tmp_path / 'store'}: {bad.reason}")


@pytest.mark.parametrize("name", ["ssl.keystore", "ssl.truststore"])
def test_missing_file_and_folder_are_refused(tmp_path: Path, name: str) -> None:
    own = Store("ssl.keystore", PEM, pem=(CERTIFICATE + KEY).decode())

    def refusal_at(path: Path) -> str:
        store = Store(name, PEM, str(path))
        return refusal_of(lambda: new_context(TlsSettings(store if name == "ssl.keystore" else own, store)))

    assert (
        refusal_at(tmp_path / "none") == f"{name}.location: cannot read {tmp_path / 'none'}: No such file or directory"
    )
    assert refusal_at(tmp_path) == f"{name}.location: cannot read {tmp_path}: Is a directory"


def test_unknown_type_is_refused(tmp_path: Path) -> None:
    store = Store("ssl.keystore", "BCFKS", str(tmp_path / "store"))

    assert refusal_of(lambda: new_context(TlsSettings(store))) == (
        "ssl.keystore.type: got BCFKS; allowed: PEM, PKCS12, JKS"
    )


def test_pem_in_keys_is_refused_with_the_names_of_the_keys() -> None:
    store = Store("ssl.keystore", PEM, pem=CERTIFICATE.decode())

    assert refusal_of(lambda: new_context(TlsSettings(store))) == (
        "ssl.keystore.key and ssl.keystore.certificate.chain: it has no private key"
    )


def test_no_version_of_tls_is_refused() -> None:
    store = Store("ssl.keystore", PEM, pem=(CERTIFICATE + KEY).decode())

    assert refusal_of(lambda: new_context(TlsSettings(store, protocols=()))) == (
        "ssl.enabled.protocols: it is empty; allowed: TLSv1.2, TLSv1.3"
    )


@pytest.mark.processes
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["-c", "ssl.keystore.location=/nowhere/server.p12"],
            "ssl.keystore.location: cannot read /nowhere/server.p12: ",
        ),
        (["-c", "listener.name.ssl.ssl.keystore.key=x", "-c", "ssl.keystore.type=PEM"], "ssl.keystore.key and "),
        (["-c", "ssl.enabled.protocols="], "ssl.enabled.protocols: it is empty"),
        (["--tls-dir", __file__], f"--tls-dir: {__file__} is a file, not a folder"),
    ],
)
def test_bad_store_of_the_command_line_is_one_line_and_exit_code_2(options: list[str], reason: str) -> None:
    ended = run("serve", "--listener", "SSL", "--port", "0", *options)

    assert (ended.exit_code, ended.output, len(ended.log.splitlines())) == (2, "", 1)
    assert ended.log.startswith(f"fauxka: {reason}")


def test_expired_certificate_of_ones_own_is_served(tmp_path: Path) -> None:
    yesterday = datetime.now(UTC) - timedelta(days=1)
    expired = AUTHORITY.issue_cert("localhost", not_before=yesterday - timedelta(days=1), not_after=yesterday)
    (tmp_path / "server.pem").write_bytes(expired.private_key_and_cert_chain_pem.bytes())
    keys = ("-c", f"ssl.keystore.location={tmp_path / 'server.pem'}", "-c", "ssl.keystore.type=PEM")

    with serving(tmp_path, "--listener", "SSL", "--port", "0", *keys) as running:
        assert running.process.poll() is None
