"""Key stores and throw-away certificates."""

import os
import ssl
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12
from cryptography.x509 import load_pem_x509_certificate

from fauxka.broker.config.config_types import ConfigError
from fauxka.broker.security.tls import throw_away_ca
from fauxka.broker.security.tls.tls_context import TlsSettings, new_context
from fauxka.security.key_store import PEM, PKCS12, Store


def subject_of(context: ssl.SSLContext, trusted: bytes) -> object:
    """Return the subject that a client sees which trusts the certificate."""
    client = ssl.create_default_context(cadata=trusted.decode())
    near, far = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(near, far, server_hostname="localhost")
    answering = context.wrap_bio(far, near, server_side=True)
    for _ in range(4):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    certificate = asking.getpeercert()
    assert certificate is not None
    return certificate["subject"]


def test_throw_away_certificate_is_trusted_by_its_authority(tmp_path: Path) -> None:
    throw_away_ca.ensure_files(tmp_path, ["localhost"])

    context = new_context(TlsSettings(throw_away_ca.key_store_of(tmp_path), throw_away_ca.trust_store_of(tmp_path)))

    assert subject_of(context, (tmp_path / throw_away_ca.CA_FILE).read_bytes())


def test_throw_away_files_are_used_again(tmp_path: Path) -> None:
    throw_away_ca.ensure_files(tmp_path, ["localhost"])
    before = {name: (tmp_path / name).read_bytes() for name in throw_away_ca.FILES}

    throw_away_ca.ensure_files(tmp_path, ["localhost"])

    assert {name: (tmp_path / name).read_bytes() for name in throw_away_ca.FILES} == before


def test_throw_away_files_with_a_private_key_are_private_and_what_clients_trust_is_not(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        throw_away_ca.ensure_files(tmp_path, ["localhost"])
    finally:
        os.umask(mask)

    modes = {name: (tmp_path / name).stat().st_mode & 0o777 for name in throw_away_ca.FILES}
    assert {name for name, mode in modes.items() if mode == 0o644} == {"ca.pem", "truststore.p12"}
    assert {name for name, mode in modes.items() if mode == 0o600} == {"server.pem", "client.pem", "client.p12"}


def test_folder_with_some_of_the_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / throw_away_ca.CA_FILE).write_text("mine")

    with pytest.raises(ConfigError, match=r"--tls-dir .*: it has ca\.pem, and not truststore\.p12"):
        throw_away_ca.ensure_files(tmp_path, ["localhost"])

    assert (tmp_path / throw_away_ca.CA_FILE).read_text() == "mine"


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


def pkcs12_of(certificate: trustme.LeafCert, password: bytes) -> bytes:
    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey)
    leaf = load_pem_x509_certificate(certificate.cert_chain_pems[0].bytes())
    return pkcs12.serialize_key_and_certificates(b"broker", key, leaf, None, BestAvailableEncryption(password))


def test_pkcs12_and_pem_stores_are_read(tmp_path: Path, authority: trustme.CA) -> None:
    certificate = authority.issue_cert("localhost")
    (tmp_path / "store.p12").write_bytes(pkcs12_of(certificate, b"changeit"))
    stores = [
        Store("ssl.keystore", "JKS", str(tmp_path / "store.p12"), password="changeit"),
        Store("ssl.keystore", PKCS12, str(tmp_path / "store.p12"), password="changeit"),
        Store("ssl.keystore", PEM, pem=certificate.private_key_and_cert_chain_pem.bytes().decode()),
    ]

    subjects = [subject_of(new_context(TlsSettings(store)), authority.cert_pem.bytes()) for store in stores]

    assert subjects[0] == subjects[1] == subjects[2]


def test_wrong_password_of_a_store_is_refused_without_the_password(tmp_path: Path, authority: trustme.CA) -> None:
    (tmp_path / "store.p12").write_bytes(pkcs12_of(authority.issue_cert("localhost"), b"changeit"))

    with pytest.raises(ConfigError) as refused:
        new_context(TlsSettings(Store("ssl.keystore", PKCS12, str(tmp_path / "store.p12"), password="hunter2")))

    assert "hunter2" not in str(refused.value)


def test_repr_of_a_store_has_no_secret() -> None:
    store = Store("ssl.keystore", PEM, pem="private", password="secret", key_password="hidden")

    assert repr(store) == "Store(name='ssl.keystore', type='PEM', location=None)"


def test_client_certificates_need_a_trust_store(authority: trustme.CA) -> None:
    pem = authority.issue_cert("localhost").private_key_and_cert_chain_pem.bytes().decode()

    with pytest.raises(ConfigError, match=r"ssl\.client\.auth=required needs ssl\.truststore\.location"):
        new_context(TlsSettings(Store("ssl.keystore", PEM, pem=pem), None, "required"))
