"""The end of a connection whose client could not authenticate (Kafka: DelayedAuthenticationFailureClose).

Source: SaslServerAuthenticator.handleAuthenticationFailure and Selector.maybeDelayCloseOnAuthenticationFailure,
Kafka 4.3.0.
"""

from __future__ import annotations

import logging
from typing import Protocol, TypeVar

from ...config.broker_config import BrokerConfig
from ...runtime.clock import AdjustableClock
from ...runtime.deferred import Deferred
from .exchange import SaslFailed
from .sasl_session import SaslSession

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
