"""The options of Spark's format `kafka`, whose client is Java's, for the security of a broker.

Workers need no files: stores are passed as PEM text, which Java's client reads since Kafka 2.7.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...client.client_security import ClientTls, TokenLogin, UnsecuredToken
from ...client.security_properties import HOST_NAME_CHECK, MECHANISM, PROTOCOL
from ...security.jaas import JAAS_CONFIG
from ...security.key_store import PEM
from ...security.pem_parts import certificates_in, pkcs8_key_in
from ..bad_option import BadOption
from .connection_options import KAFKA_PREFIX, parse_security, properties_of

_AS_GIVEN = (PROTOCOL, MECHANISM, JAAS_CONFIG, HOST_NAME_CHECK, "ssl.enabled.protocols")


def java_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options kafka.* for the security of the broker. options: of the data source. Raises BadOption."""
    security = parse_security(options)
    login = security.login
    if isinstance(login, TokenLogin) and not isinstance(login.source, UnsecuredToken):
        raise BadOption(
            "to: Spark's format kafka, which writes a topic, cannot use a token command, a token file or a token"
            " endpoint; use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or a client certificate for the target"
        )
    given = properties_of(options)
    properties = {name: given[name] for name in _AS_GIVEN if name in given}
    if security.tls is not None:
        properties |= _stores_of(security.tls)
    return {f"{KAFKA_PREFIX}{name}": value for name, value in properties.items()}


def _stores_of(tls: ClientTls) -> dict[str, str]:
    properties: dict[str, str] = {}
    if tls.trust_store is not None:
        properties["ssl.truststore.type"] = PEM
        properties["ssl.truststore.certificates"] = certificates_in(tls.trust_store.read_pem())
    if tls.key_store is not None:
        pem = tls.key_store.read_pem()
        properties["ssl.keystore.type"] = PEM
        properties["ssl.keystore.certificate.chain"] = certificates_in(pem)
        properties["ssl.keystore.key"] = pkcs8_key_in(tls.key_store, pem)
    return properties
