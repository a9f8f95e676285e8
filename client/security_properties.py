"""The security of a client from the properties of Kafka's clients.

- Names and meanings are those of Kafka; the command for tokens is ours (token_properties.py).
- Properties that do not concern security, such as client.id, are accepted and have no effect here. So are those of
  WITHOUT_EFFECT, which tune what is not done here.
- Any other property of security is an error. Kafka logs unknown ones; but a misspelled trust store, or a limit that is
  not applied, would be noticed late.
Source: CommonClientConfigs, SslConfigs and SaslConfigs, Kafka 4.3.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import ConfigError, client
from ..security.jaas import JAAS_CONFIG, OAUTHBEARER_MODULE, PLAIN_MODULE, SCRAM_MODULE, parse_jaas_options
from ..security.java_text import equals_ignore_case, split_list, trim
from ..security.key_store import PEM, PEM_KEYS, Store, find_store
from ..security.security_protocol import SecurityProtocol
from .client_security import MECHANISMS, OAUTHBEARER, PLAIN, ClientSecurity, ClientTls, PasswordLogin, SaslLogin
from .token_properties import TOKEN_PROPERTIES, token_login_of

PROTOCOL = "security.protocol"
MECHANISM = "sasl.mechanism"
ENABLED_PROTOCOLS = "ssl.enabled.protocols"
HOST_NAME_CHECK = "ssl.endpoint.identification.algorithm"
_STORES = ("ssl.keystore", "ssl.truststore")

SUPPORTED = (
    PROTOCOL,
    *(f"{store}.{end}" for store in _STORES for end in ("location", "type", "password")),
    *(key for keys in PEM_KEYS.values() for key in keys),
    "ssl.key.password",
    HOST_NAME_CHECK,
    ENABLED_PROTOCOLS,
    MECHANISM,
    JAAS_CONFIG,
    *TOKEN_PROPERTIES,
)
WITHOUT_EFFECT = (
    "ssl.protocol",
    "ssl.provider",
    "ssl.keymanager.algorithm",
    "ssl.trustmanager.algorithm",
    "ssl.secure.random.implementation",
    # A class of a callback handler cannot be run; the properties for tokens say all that Kafka's own need.
    "sasl.login.",
    "sasl.kerberos.",
    "security.providers",
)
_OF_SECURITY = ("ssl.", "sasl.", "security.", "fauxka.")
# The default of Kafka, which is not supported.
_GSSAPI = "GSSAPI"
_HTTPS = "https"


def parse_client_security(properties: Mapping[str, str]) -> ClientSecurity:
    """Return the security that the properties configure, with the content of all stores.

    Raises ConfigError, whose message has no password, key or token.
    """
    _check_names(properties)
    properties = {key: trim(value) for key, value in properties.items()}
    name = properties.get(PROTOCOL, SecurityProtocol.PLAINTEXT.value).upper()
    if name not in SecurityProtocol.__members__:
        raise ConfigError(f"{PROTOCOL}: got {name}; allowed: {', '.join(SecurityProtocol.__members__)}")
    protocol = SecurityProtocol[name]
    security = ClientSecurity(
        _tls_of(properties) if protocol.has_tls else None, _login_of(properties) if protocol.has_sasl else None
    )
    if security.tls is not None:
        # A store that cannot be used is an error before the first connection.
        client.tls_connection.new_context(security.tls)
    return security


def _check_names(properties: Mapping[str, str]) -> None:
    for name in sorted(properties):
        if name.startswith(_OF_SECURITY) and name not in SUPPORTED and not name.startswith(WITHOUT_EFFECT):
            raise ConfigError(f"{name}: is not supported; supported properties of security: {', '.join(SUPPORTED)}")


def _tls_of(properties: Mapping[str, str]) -> ClientTls:
    algorithm = properties.get(HOST_NAME_CHECK, _HTTPS).lower()
    if algorithm not in ("", _HTTPS):
        raise ConfigError(f"{HOST_NAME_CHECK}: got {algorithm}; allowed: {_HTTPS}, or nothing for no check")
    versions = tuple(split_list(properties.get(ENABLED_PROTOCOLS, "")))
    return ClientTls(
        _read_store(properties, "ssl.truststore"),
        _read_store(properties, "ssl.keystore"),
        checks_host_name=algorithm == _HTTPS,
        versions=versions if ENABLED_PROTOCOLS in properties else ClientTls().versions,
    )


def _read_store(properties: Mapping[str, str], kind: str) -> Store | None:
    """Return a store with its content as PEM."""
    # Kafka's default of the types is JKS, which reads PKCS12 too.
    store = find_store({f"{kind}.type": "JKS", **properties}.get, kind)
    if store is None:
        return None
    if store.pem is not None and not equals_ignore_case(properties.get(f"{kind}.type", ""), PEM):
        raise ConfigError(f"{store.source}: needs {kind}.type={PEM}")
    return replace(store, type=PEM, pem=store.read_pem().decode("latin-1"))


def _login_of(properties: Mapping[str, str]) -> SaslLogin:
    mechanism = properties.get(MECHANISM, _GSSAPI)
    if mechanism not in MECHANISMS:
        default = " (the default)" if MECHANISM not in properties else ""
        raise ConfigError(f"{MECHANISM}: got {mechanism}{default}; allowed: {', '.join(MECHANISMS)}")
    if mechanism == OAUTHBEARER:
        jaas = properties.get(JAAS_CONFIG)
        return token_login_of(properties, parse_jaas_options(jaas, OAUTHBEARER_MODULE, JAAS_CONFIG) if jaas else {})
    module = PLAIN_MODULE if mechanism == PLAIN else SCRAM_MODULE
    if JAAS_CONFIG not in properties:
        example = f'{module} required username="..." password="...";'
        raise ConfigError(f"{JAAS_CONFIG}: must be set for {mechanism}: {example}")
    options = parse_jaas_options(properties[JAAS_CONFIG], module, JAAS_CONFIG)
    user, password = options.get("username"), options.get("password")
    if not user or password is None:
        raise ConfigError(f"{JAAS_CONFIG}: must have username and password for {mechanism}")
    is_token = mechanism != PLAIN and equals_ignore_case(options.get("tokenauth", ""), "true")
    return PasswordLogin(mechanism, user, password, is_token)
