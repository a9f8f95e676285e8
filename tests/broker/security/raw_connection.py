"""A raw connection that authenticates by SASL, frame by frame."""

import socket
import ssl
import struct

from fauxka.protocol.api_keys import APIS, ApiKey
from fauxka.protocol.client_requests import RequestMessage, request_frame
from fauxka.protocol.messages.metadata import MetadataRequest, MetadataResponse
from fauxka.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from fauxka.protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from fauxka.protocol.primitives import Reader
from fauxka.testing import AsyncBroker, Broker

SECONDS_MAX = 10.0
METADATA_VERSION = 8
CORRELATION_ID = 7


class Raw:
    """A connection that sends frames."""

    def __init__(self, broker: Broker | AsyncBroker | str) -> None:
        """broker: a started one, or its address. Of several nodes the first is used."""
        addresses = broker if isinstance(broker, str) else broker.bootstrap_servers
        host, _, port = addresses.partition(",")[0].rpartition(":")
        self.socket = socket.create_connection((host, int(port)), SECONDS_MAX)

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def encrypt(self, context: ssl.SSLContext) -> None:
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")

    def frame(self, content: bytes) -> bytes | None:
        """Send a frame, and return the one that answers it; None if the connection is closed instead."""
        self.send(content)
        return self.read()

    def send(self, content: bytes) -> None:
        self.socket.sendall(struct.pack(">i", len(content)) + content)

    def read(self) -> bytes | None:
        head = self._exactly(4)
        return None if head is None else self._exactly(int(struct.unpack(">i", head)[0]))

    def _exactly(self, count: int) -> bytes | None:
        content = b""
        while len(content) < count:
            try:
                more = self.socket.recv(count - len(content))
            except (ConnectionResetError, ssl.SSLError):
                return None
            if not more:
                return None
            content += more
        return content

    def request(self, key: ApiKey, version: int, message: RequestMessage) -> bytes | None:
        """Send a request, and return the response without its correlation id."""
        self.send_request(key, version, message)
        answer = self.read()
        return None if answer is None else answer[4:]

    def send_request(self, key: ApiKey, version: int, message: RequestMessage) -> None:
        self.socket.sendall(request_frame(APIS[key], version, CORRELATION_ID, message))

    def handshake(self, mechanism: str = "PLAIN", version: int = 1) -> SaslHandshakeResponse | None:
        answer = self.request(ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism=mechanism))
        return None if answer is None else SaslHandshakeResponse.read(Reader.of_request(answer), version)

    def authenticate(self, token: bytes, version: int = 1) -> SaslAuthenticateResponse | None:
        answer = self.request(ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(auth_bytes=token))
        return None if answer is None else SaslAuthenticateResponse.read(Reader.of_request(answer), version)

    def is_served(self) -> bool:
        """Whether a Metadata is answered."""
        answer = self.request(ApiKey.METADATA, METADATA_VERSION, MetadataRequest(topics=[]))
        return answer is not None and bool(MetadataResponse.read(Reader.of_request(answer), METADATA_VERSION).brokers)
