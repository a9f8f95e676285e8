"""The authentication of one connection with SASL (Kafka: SaslServerAuthenticator).

Rules:
- ApiVersions once, then SaslHandshake with a mechanism, then tokens. After SaslHandshake v0 a token is a frame of its
  own, without a header; after v1 it is in a SaslAuthenticate.
- Any other request, and any order but this one, ends the connection.
- A client that fails gets its response after connection.failed.authentication.delay.ms, and its connection ends. After
  as long ends that of a client whose token has no header, or whose frame has a size that is not allowed.
- A client may authenticate again, as the same principal and by the same mechanism, at most once a second (KIP-368). A
  session that has a lifetime ends with the first request after it that does not authenticate again.
Source: SaslServerAuthenticator and KafkaChannel.maybeBeginServerReauthentication, Kafka 4.3.0;
tests/golden/sasl-4.3.0.jsonl.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import Enum, auto
from typing import Protocol, TypeVar

from ....protocol.frames import FrameError
from ...config.broker_config import BrokerConfig
from ...runtime.clock import AdjustableClock
from ...runtime.deferred import Deferred
from ..principal import ANONYMOUS, Principal
from .exchange import Authenticated, Exchange, SaslFailed
from .mechanisms import Mechanisms
from .scram import ClusterCredentials

# KafkaChannel.MIN_REAUTH_INTERVAL_ONE_SECOND_NANOS.
REAUTH_INTERVAL_MS = 1000
# Kafka counts the end of a session in nanoseconds, as a long.
_LIFETIME_MS_MAX = (2**63 - 1) // 1_000_000


class Stage(Enum):
    """What the client has to send next."""

    HANDSHAKE_OR_VERSIONS = auto()
    HANDSHAKE = auto()
    BARE_TOKEN = auto()
    SASL_AUTHENTICATE = auto()
    # Nothing: it authenticates again by another mechanism. Kafka responds to the handshake, and then closes.
    NOTHING = auto()
    AUTHENTICATED = auto()
    FAILED = auto()


class SaslSession:
    """The state of one connection on a listener with SASL.

    stage: what the client has to send next. principal: ANONYMOUS until it has authenticated. is_token_authenticated:
    whether it has authenticated with a delegation token.
    authenticated_ms, expires_ms: the last authentication, and when the session is over, in ms of the clock; None before
    the first one, and for no end. on_authenticated: called after each authentication.
    """

    def __init__(
        self,
        mechanisms: Mechanisms,
        credentials: ClusterCredentials,
        clock: AdjustableClock,
        end_connection: Callable[[], None],
    ) -> None:
        """end_connection: closes the connection after the responses so far."""
        self.stage = Stage.HANDSHAKE_OR_VERSIONS
        self.principal: Principal = ANONYMOUS
        self.is_token_authenticated = False
        self.mechanisms = mechanisms
        self.authenticated_ms: int | None = None
        self.expires_ms: int | None = None
        self.on_authenticated: Callable[[], None] | None = None
        self.end_connection = end_connection
        self._credentials = credentials
        self._clock = clock
        self._mechanism = ""
        self._exchange: Exchange | None = None
        # A mechanism that the next SaslHandshake cannot choose.
        self._withheld: str | None = None
        self._lifetime_ms = 0
        self._reauthenticated_ms: int | None = None

    @property
    def is_authenticated(self) -> bool:
        """Whether authentication has ended well, and so the client may send all requests."""
        return self.stage is Stage.AUTHENTICATED

    @property
    def mechanism(self) -> str | None:
        """The mechanism that the client has chosen; None before."""
        return self._mechanism or None

    @property
    def offered(self) -> list[str]:
        """The mechanisms that the next SaslHandshake can choose."""
        return [name for name in self.mechanisms.names if name != self._withheld]

    @property
    def is_reauthenticating(self) -> bool:
        """Whether the client has authenticated before, and does so again."""
        return self._reauthenticated_ms is not None and self.stage is not Stage.AUTHENTICATED

    @property
    def is_expired(self) -> bool:
        """Whether the lifetime of the session is over."""
        return self.expires_ms is not None and self._clock.steady_ms() > self.expires_ms

    def refuse(self, reason: str) -> SaslFailed:
        """Fail because of a request that cannot be sent now. Return the error."""
        return self._failed(SaslFailed(reason))

    def withhold(self, mechanism: str) -> None:
        """Have the next SaslHandshake fail if it asks for this mechanism, as if the listener did not offer it."""
        self._withheld = mechanism

    def reject(self) -> None:
        """Have the next token rejected, as that of an unknown user or of an invalid bearer token."""
        self._exchange = self.mechanisms.start_rejecting(self._mechanism)

    def expire(self) -> None:
        """End the lifetime of an authenticated session. Its next request ends the connection (see begin_again)."""
        self.expires_ms = self._clock.steady_ms() - 1

    def claimed_principal(self, token: bytes) -> Principal:
        """Return the user that a token names, without verification; the principal if it names none."""
        user = None if self._exchange is None else self._exchange.find_user(token)
        return self.principal if user is None else Principal(user)

    def take_versions(self) -> None:
        """Take an ApiVersions that was answered without an error."""
        if self.stage is Stage.HANDSHAKE_OR_VERSIONS:
            self.stage = Stage.HANDSHAKE

    def begin_again(self) -> bool:
        """Begin the next authentication.

        Return False for a session without a lifetime, and if the last authentication began less than a second ago.
        """
        if self.expires_ms is None:
            return False
        now = self._clock.steady_ms()
        last = self._reauthenticated_ms
        if last is not None and now - last < REAUTH_INTERVAL_MS:
            return False
        self._reauthenticated_ms = now
        self.stage = Stage.HANDSHAKE_OR_VERSIONS
        return True

    def take_handshake(self, mechanism: str, *, has_bare_tokens: bool) -> None:
        """Take the mechanism of a SaslHandshake. Raises SaslFailed.

        Raises FrameError for an unknown mechanism in a further authentication, to which Kafka does not respond.
        """
        offered, self._withheld = self.offered, None
        if mechanism not in offered:
            if self.is_reauthenticating:
                raise FrameError(f"re-authentication by the unsupported SASL mechanism {mechanism}")
            raise self._failed(SaslFailed(f"Unsupported SASL mechanism {mechanism}"))
        if self.is_reauthenticating and mechanism != self._mechanism:
            self.stage = Stage.NOTHING
            return
        self._mechanism = mechanism
        self._exchange = self.mechanisms.start(mechanism, self._credentials, self._clock.now_ms)
        self.stage = Stage.BARE_TOKEN if has_bare_tokens else Stage.SASL_AUTHENTICATE

    def take_token(self, token: bytes) -> bytes:
        """Take a token of the client, and return the one that answers it.

        Raises SaslFailed with a message, and FrameError for a token to which Kafka does not respond.
        """
        exchange = self._exchange
        assert exchange is not None, "no mechanism was chosen"
        try:
            answer = exchange.evaluate(token)
            if exchange.result is not None:
                self._complete(exchange.result)
        except SaslFailed as error:
            again = "re-authentication" if self.is_reauthenticating else "authentication"
            message = error.message or (
                f"Authentication failed during {again} due to invalid credentials with SASL mechanism {self._mechanism}"
            )
            raise self._failed(SaslFailed(error.reason, message, is_delayed=error.is_delayed)) from error
        return answer

    @property
    def lifetime_ms(self) -> int:
        """The milliseconds of the session from the end of the authentication on; 0 for no end, and before."""
        return self._lifetime_ms if self.stage is Stage.AUTHENTICATED else 0

    def _complete(self, result: Authenticated) -> None:
        if self.is_reauthenticating and result.principal != self.principal:
            old, new = self.principal, result.principal
            # Kafka's message has dots in the place of colons.
            message = (
                f"Cannot change principals during re-authentication from {old.type}.{old.name}: {new.type}.{new.name}"
            )
            raise SaslFailed(message, message)
        now = self._clock.steady_ms()
        expiry_ms = result.expires_at_ms
        lifetimes = [] if expiry_ms is None else [max(0, expiry_ms - self._clock.now_ms())]
        if reauth_ms := self.mechanisms.reauth_ms.get(self._mechanism, 0):
            lifetimes.append(reauth_ms)
        lifetime_ms = min(lifetimes, default=0)
        if lifetime_ms > _LIFETIME_MS_MAX:
            raise FrameError(f"failed authentication: the credential has a lifetime of {lifetime_ms} ms")
        self._lifetime_ms = lifetime_ms
        # A credential that has expired within the clock skew is of no use: the next request comes later, if only by
        # nanoseconds.
        self.expires_ms = now + (lifetime_ms or -1) if lifetimes else None
        self.principal, self.is_token_authenticated = result.principal, result.is_by_token
        self.authenticated_ms = now
        self._exchange = None
        self.stage = Stage.AUTHENTICATED
        if self.on_authenticated is not None:
            self.on_authenticated()

    def _failed(self, error: SaslFailed) -> SaslFailed:
        self.stage = Stage.FAILED
        return error


logger = logging.getLogger(__name__)

Response = TypeVar("Response")


class ServesSasl(Protocol):
    """The parts of a node that are needed."""

    @property
    def config(self) -> BrokerConfig:
        """The configs that are in force now."""
        ...

    @property
    def clock(self) -> AdjustableClock:
        """The clock of the delay."""
        ...


def answer_and_close(
    session: SaslSession, node: ServesSasl, connection: str, error: SaslFailed, response: Response
) -> Deferred[Response]:
    """Return the response, which is sent after connection.failed.authentication.delay.ms; then the connection ends.

    connection: its name in the log.
    """
    # Anyone may send a name of a mechanism that fills a frame.
    logger.info("%s failed authentication: %.500s", connection, error.reason)

    def answer() -> None:
        pending.complete(response)
        session.end_connection()

    timer = node.clock.call_later(node.config.connection_failed_authentication_delay_ms, answer)
    pending: Deferred[Response] = Deferred(timer.cancel)
    return pending
