"""The authority of throw-away certificates, by trustme, and what it issues as stores of Java, by cryptography."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12
from cryptography.x509 import load_pem_x509_certificate, load_pem_x509_certificates
from trustme import CA, LeafCert


def new_authority(organization: str) -> CA:
    """Return a new authority."""
    return CA(organization_name=organization)


def read_authority(certificate: bytes, private_key: bytes) -> CA:
    """Return the authority with this certificate and key, both as PEM. Raises ValueError."""
    return CA.from_pem(certificate, private_key)


def trust_store_of(authority: CA, password: str) -> bytes:
    """Return a trust store of Java with the certificate of the authority, as PKCS12."""
    certificate = pkcs12.PKCS12Certificate(load_pem_x509_certificate(authority.cert_pem.bytes()), b"fauxka")
    return pkcs12.serialize_java_truststore([certificate], BestAvailableEncryption(password.encode()))


def key_store_of(client: LeafCert, name: str, password: str) -> bytes:
    """Return the key and the certificates of a client, as PKCS12. name: of the entry."""
    chain = load_pem_x509_certificates(b"".join(each.bytes() for each in client.cert_chain_pems))
    key = load_pem_private_key(client.private_key_pem.bytes(), None)
    assert isinstance(key, EllipticCurvePrivateKey), "the authority makes keys of this kind"
    encryption = BestAvailableEncryption(password.encode())
    return pkcs12.serialize_key_and_certificates(name.encode(), key, chain[0], chain[1:], encryption)
