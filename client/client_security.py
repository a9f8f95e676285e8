"""The security of a client's connections. It is frozen, has no path of a store, and can be pickled for another process.

Passwords, keys and tokens are in no repr.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..security.key_store import Store
from ..security.security_protocol import SecurityProtocol

PLAIN = "PLAIN"
OAUTHBEARER = "OAUTHBEARER"
# The hash of each mechanism, by hashlib's name.
SCRAM_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS = (PLAIN, *SCRAM_HASHES, OAUTHBEARER)


@dataclass(frozen=True, slots=True)
class ClientTls:
    """What a client trusts, and its certificate.

    trust_store, key_store: with their content as PEM; None for the authorities of this machine, and for no certificate.
    checks_host_name: whether the certificate must be for the name under which the client connects. is_verified: False
    accepts any certificate. versions: of ssl.enabled.protocols.
    """

    trust_store: Store | None = None
    key_store: Store | None = None
    checks_host_name: bool = True
    is_verified: bool = True
    versions: tuple[str, ...] = ("TLSv1.2", "TLSv1.3")


@dataclass(frozen=True, slots=True)
class PasswordLogin:
    """A user with a password. mechanism: PLAIN or of SCRAM_HASHES. is_token: they are a delegation token (KIP-48)."""

    mechanism: str
    user: str
    password: str = field(repr=False)
    is_token: bool = False


@dataclass(frozen=True, slots=True)
class TokenCommand:
    """A program whose standard output is the token. arguments: the program and its arguments."""

    arguments: tuple[str, ...] = field(repr=False)

    @property
    def program(self) -> str:
        """The program, for messages."""
        return self.arguments[0]


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds the token, read for each login."""

    path: str


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """A token endpoint with the grant type client_credentials (RFC 6749, section 4.4). scope: None for the default."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class UnsecuredToken:
    """A token without a signature, which the client makes itself. claims: its texts by name."""

    claims: tuple[tuple[str, str], ...]


TokenSource = TokenCommand | TokenFile | TokenEndpoint | UnsecuredToken


@dataclass(frozen=True, slots=True)
class TokenLogin:
    """A login by OAUTHBEARER. extensions: names and values that are sent beside the token."""

    source: TokenSource
    extensions: tuple[tuple[str, str], ...] = ()

    @property
    def mechanism(self) -> str:
        """The SASL mechanism."""
        return OAUTHBEARER


SaslLogin = PasswordLogin | TokenLogin


@dataclass(frozen=True, slots=True)
class ClientSecurity:
    """The security of a connection. tls, login: None without TLS, and without SASL."""

    tls: ClientTls | None = None
    login: SaslLogin | None = None

    @property
    def protocol(self) -> SecurityProtocol:
        """Kafka's name of it."""
        if self.login is None:
            return SecurityProtocol.PLAINTEXT if self.tls is None else SecurityProtocol.SSL
        return SecurityProtocol.SASL_PLAINTEXT if self.tls is None else SecurityProtocol.SASL_SSL


PLAINTEXT = ClientSecurity()
