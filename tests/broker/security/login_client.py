"""A client that authenticates by SASL, message by message."""

from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from fauxka.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from fauxka.testing import AsyncBroker, Broker

from ...wire.message_client import MessageClient
from ...wire.wire_connection import ConnectionClosedError

METADATA_VERSION = 8


class LoginClient(MessageClient):
    """A connection of a client that may authenticate. Methods raise ConnectionClosedError."""

    def __init__(self, broker: Broker | AsyncBroker | str) -> None:
        """broker: a started one, or its address. Of several nodes the first is used."""
        addresses = broker if isinstance(broker, str) else broker.bootstrap_servers
        super().__init__(addresses.partition(",")[0])

    def handshake(self, mechanism: str = "PLAIN", version: int = 1) -> SaslHandshakeResponse:
        return self.call(SaslHandshakeRequest(mechanism=mechanism), version, SaslHandshakeResponse)

    def authenticate(self, token: bytes, version: int = 1) -> SaslAuthenticateResponse:
        return self.call(SaslAuthenticateRequest(auth_bytes=token), version, SaslAuthenticateResponse)

    def is_served(self) -> bool:
        """Whether a Metadata is answered, and the connection not closed instead."""
        try:
            return bool(self.call(MetadataRequest(topics=[]), METADATA_VERSION, MetadataResponse).brokers)
        except ConnectionClosedError:
            return False
