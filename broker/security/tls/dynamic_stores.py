"""The stores of a listener with TLS as the dynamic configs of its broker change them, for later handshakes.

Rules:
- A change is checked before it is stored: the stores can be read, and the certificate has the subject and the
  alternative names of the one before, unless ssl.allow.dn.changes or ssl.allow.san.changes permits another.
- A change of the broker's configs also reads files again whose time of modification has changed.
- A change that cannot be applied, because its file was removed after the check, is logged. The certificate stays.

Source: SslFactory.createNewSslEngineFactory and DefaultSslEngineFactory, Kafka 4.3.0; tests/golden/stores-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
import os
import ssl
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ....security.java_text import equals_ignore_case
from ....security.key_store import PEM, PEM_KEYS, Store
from ...config.config_types import ConfigError
from ...config.dynamic_configs import invalid_dynamic_config
from ..listener_keys import ListenerKeys, listener_prefix
from .der import DerError
from .distinguished_name import name_of_certificate
from .listener_tls import CONFIGURED, ListenerTls, PresentedCertificate, certificate_in, tls_settings
from .throw_away_ca import IssuedKind
from .tls_context import TlsSettings, new_context

logger = logging.getLogger(__name__)

# SslConfigs.RECONFIGURABLE_CONFIGS
KEYS = (
    "ssl.key.password",
    *(f"{store}.{part}" for store in PEM_KEYS for part in ("type", "location", "password")),
    *(key for keys in PEM_KEYS.values() for key in keys),
)
# Java's name of the only entry of a PEM store.
ALIAS = "kafka"
_CONFIG_EXCEPTION = "org.apache.kafka.common.config.ConfigException"
_INVALID_CONFIGURATION = "org.apache.kafka.common.errors.InvalidConfigurationException"
_KAFKA_EXCEPTION = "org.apache.kafka.common.KafkaException"
_WRONG_KEY_PASSWORD = (
    "java.security.UnrecoverableKeyException: Get Key failed: Given final block not properly padded. "
    "Such issues can arise if a bad key is used during decryption."
)
_PASSWORD_OF_PEM = "SSL key store password cannot be specified with PEM format, only key password may be specified"
# The number of each kind of alternative name in Java.
_NAME_KINDS = {"RFC822Name": 1, "DNSName": 2, "DirectoryName": 4, "UniformResourceIdentifier": 6, "IPAddress": 7}


@dataclass(frozen=True, slots=True)
class _Loaded:
    """Stores that have been read, with the texts and the times of modification of their files."""

    texts: Mapping[str, str]
    times: tuple[int | None, ...]
    settings: TlsSettings
    certificate: PresentedCertificate


class DynamicStores:
    """The stores of one listener of one node."""

    def __init__(self, name: str, tls: ListenerTls, configs: Callable[[], Mapping[str, str]]) -> None:
        """configs: returns the dynamic configs of the broker."""
        self.tls = tls
        self._prefix = listener_prefix(name)
        self._configs = configs
        self._static = _Loaded({}, _times_of(tls.settings), tls.settings, tls.configured)
        self._loaded = self._static

    def current(self) -> PresentedCertificate:
        """Return the certificate of the configs as they are now."""
        texts = self._own(self._configs())
        if texts != self._loaded.texts:
            # They were replaced, as by a reset or a restart, and not changed by a request.
            self._loaded = self._static
            self._apply(texts)
        return self._loaded.certificate

    def configs_changed(self) -> None:
        """Apply the configs, and read modified files again."""
        self._apply(self._own(self._configs()))

    def check(self, configs: Mapping[str, str]) -> None:
        """Raise ConfigError if the stores cannot be those of these dynamic configs."""
        self._load(self._own(configs))

    def present(self, kind: IssuedKind, pem: bytes) -> PresentedCertificate:
        """Return an issued certificate with a context of its own. pem: with its private key."""
        settings = replace(self._loaded.settings, key_store=Store("ssl.keystore", PEM, pem=pem.decode()))
        return PresentedCertificate(kind, new_context(settings, pem), certificate_in(pem))

    def _own(self, configs: Mapping[str, str]) -> dict[str, str]:
        keys = (f"{self._prefix}{key}" for key in KEYS)
        return {key: configs[key] for key in keys if key in configs}

    def _apply(self, texts: Mapping[str, str]) -> None:
        try:
            self._loaded = self._load(texts)
        except ConfigError as error:
            self._loaded = replace(self._loaded, texts=texts)
            logger.error("%s* could not be applied: %s", self._prefix, error)

    def _load(self, texts: Mapping[str, str]) -> _Loaded:
        """Return the stores with these texts; the loaded ones if nothing has changed. Raises ConfigError."""
        before = self._loaded
        if texts == before.texts and _times_of(before.settings) == before.times:
            return before
        keys = self.tls.keys.with_entries(texts)
        try:
            return self._read(keys, texts)
        except _RefusedError as error:
            raise ConfigError(
                invalid_dynamic_config(f"Validation of dynamic config update of SSLFactory failed: {error}")
            ) from error

    def _read(self, keys: ListenerKeys, texts: Mapping[str, str]) -> _Loaded:
        before = self._loaded
        _check_key_store_keys(keys)
        _check_trust_store_keys(keys)
        settings = tls_settings(keys, self.tls.throw_away)
        times = _times_of(settings)
        pem = _read_store(settings.key_store)
        if settings.trust_store is not None:
            _read_store(settings.trust_store)
        try:
            context = new_context(settings, pem)
        except ConfigError as error:
            raise _cannot_load(settings.key_store) from error
        certificate = PresentedCertificate(CONFIGURED, context, certificate_in(pem))
        _check_compatible(keys, before.certificate.pem, certificate.pem)
        if before.settings.trust_store is None and settings.trust_store is not None:
            raise _RefusedError(
                _CONFIG_EXCEPTION,
                "Cannot add SSL truststore to an existing listener for which no truststore was configured.",
            )
        return _Loaded(texts, times, settings, certificate)


class _RefusedError(Exception):
    """A change that Kafka refuses, as Java prints it."""

    def __init__(self, java_class: str, message: str) -> None:
        super().__init__(f"{java_class}: {message}")


def _times_of(settings: TlsSettings) -> tuple[int | None, ...]:
    """Return the time of modification of the file of each store, in ns; None without a file."""
    return tuple(_modified_ns(store) for store in (settings.key_store, settings.trust_store))


def _modified_ns(store: Store | None) -> int | None:
    if store is None or store.location is None:
        return None
    try:
        return os.stat(store.location).st_mtime_ns
    except (OSError, ValueError):
        return None


def _check_key_store_keys(keys: ListenerKeys) -> None:
    """Source: DefaultSslEngineFactory.createKeystore."""
    key, chain = (keys.text(name) for name in PEM_KEYS["ssl.keystore"])
    location, password = keys.text("ssl.keystore.location"), keys.text("ssl.keystore.password")
    type_ = keys.text("ssl.keystore.type")
    problem = None
    if key is not None:
        problem = _find_key_problem(keys)
    elif chain is not None:
        problem = "SSL certificate chain is specified, but private key is not specified"
    elif location is None:
        problem = None if password is None else "SSL key store is not specified, but key store password is specified."
    elif type_ == PEM:
        problem = None if password is None else _PASSWORD_OF_PEM
    elif password is None:
        problem = "SSL key store is specified, but key store password is not specified."
    if problem is not None:
        raise _RefusedError(_INVALID_CONFIGURATION, problem)


def _find_key_problem(keys: ListenerKeys) -> str | None:
    """Return what is wrong with the other keys of a listener that has ssl.keystore.key."""
    type_ = keys.text("ssl.keystore.type")
    if type_ != PEM:
        return f"SSL private key can be specified only for PEM, but key store type is {type_}."
    if keys.text("ssl.keystore.certificate.chain") is None:
        return "SSL private key is specified, but certificate chain is not specified."
    if keys.text("ssl.keystore.location") is not None:
        return "Both SSL key store location and separate private key are specified."
    return None if keys.text("ssl.keystore.password") is None else f"{_PASSWORD_OF_PEM}."


def _check_trust_store_keys(keys: ListenerKeys) -> None:
    """Source: DefaultSslEngineFactory.createTruststore."""
    certificates = keys.text("ssl.truststore.certificates")
    location, password = keys.text("ssl.truststore.location"), keys.text("ssl.truststore.password")
    type_ = keys.text("ssl.truststore.type")
    problem = None
    if certificates is not None and type_ != PEM:
        problem = f"SSL trust store certs can be specified only for PEM, but trust store type is {type_}."
    elif certificates is not None and location is not None:
        problem = "Both SSL trust store location and separate trust certificates are specified."
    elif password is not None and type_ == PEM and (certificates is not None or location is not None):
        problem = "SSL trust store password cannot be specified for PEM format."
    elif password is not None and location is None:
        problem = "SSL trust store is not specified, but trust store password is specified."
    if problem is not None:
        raise _RefusedError(_INVALID_CONFIGURATION, problem)


def _read_store(store: Store) -> bytes:
    """Return the store as PEM. Raises _RefusedError."""
    try:
        # The name of a pipe would hold the event loop.
        if store.location is not None and not stat.S_ISREG(os.stat(store.location).st_mode):
            raise _cannot_load(store)
        pem = store.read_pem()
    except (ConfigError, OSError, ValueError) as error:
        raise _cannot_load(store) from error
    if b"-----BEGIN CERTIFICATE-----" not in pem:
        raise _cannot_load(store)
    if store.type != PEM and store.key_password not in (None, store.password) and store.name == "ssl.keystore":
        raise _RefusedError(_KAFKA_EXCEPTION, _WRONG_KEY_PASSWORD)
    return pem


def _cannot_load(store: Store) -> _RefusedError:
    if store.location is None:
        return _RefusedError(_INVALID_CONFIGURATION, "Invalid PEM keystore configs")
    if store.type == PEM:
        return _RefusedError(_INVALID_CONFIGURATION, f"Failed to load PEM SSL keystore {store.location}")
    return _RefusedError(_KAFKA_EXCEPTION, f"Failed to load SSL keystore {store.location} of type {store.type}")


def _check_compatible(keys: ListenerKeys, before: str, after: str) -> None:
    """Compare two certificates. Source: SslFactory.CertificateEntries.ensureCompatible."""
    if before == after:
        return
    old_subject, old_names = _names_in(before)
    new_subject, new_names = _names_in(after)
    if not _is_true(keys, "ssl.allow.dn.changes") and not equals_ignore_case(_name_in(after), _name_in(before)):
        raise _RefusedError(
            _CONFIG_EXCEPTION,
            f"Keystore DistinguishedName does not match:  existing={{alias={ALIAS}, DN={old_subject}}}, "
            f"new={{alias={ALIAS}, DN={new_subject}}}",
        )
    if not _is_true(keys, "ssl.allow.san.changes") and not set(new_names) >= set(old_names):
        raise _RefusedError(
            _CONFIG_EXCEPTION,
            f"Keystore SubjectAltNames do not match:  existing={{alias={ALIAS}, SAN=[{', '.join(old_names)}]}}, "
            f"new={{alias={ALIAS}, SAN=[{', '.join(new_names)}]}}",
        )


def _is_true(keys: ListenerKeys, key: str) -> bool:
    return equals_ignore_case(keys.text(key) or "", "true")


def _name_in(pem: str) -> str:
    try:
        return name_of_certificate(ssl.PEM_cert_to_DER_cert(pem))
    except DerError as error:
        raise _RefusedError(_INVALID_CONFIGURATION, "Invalid PEM keystore configs") from error


def _names_in(pem: str) -> tuple[str, list[str]]:
    """Return the subject and the sorted alternative names of a certificate, as Java prints them."""
    try:
        from cryptography.x509 import ExtensionNotFound, SubjectAlternativeName, load_pem_x509_certificate
    except ImportError as error:
        raise _RefusedError(
            _KAFKA_EXCEPTION, "certificates are compared with cryptography: pip install 'fauxka[security]'"
        ) from error
    try:
        certificate = load_pem_x509_certificate(pem.encode())
        subject = ", ".join(each.rfc4514_string() for each in reversed(certificate.subject.rdns))
        try:
            names = list(certificate.extensions.get_extension_for_class(SubjectAlternativeName).value)
        except ExtensionNotFound:
            names = []
    except ValueError as error:
        raise _RefusedError(_INVALID_CONFIGURATION, "Invalid PEM keystore configs") from error
    return subject, sorted(f"[{_NAME_KINDS.get(type(name).__name__, 0)}, {name.value}]" for name in names)
